// Puts each chart in the place of its static figure. In print, without scripts and where a chart
// can't be drawn, the figure stays.
const sources = window.vegaEmbed ? document.querySelectorAll("script[data-chart]") : [];
for (const source of sources) {
  const figure = document.getElementById(source.dataset.chart);
  const image = figure.querySelector("img");
  const [chart, inputs, view] = ["chart", "chart-inputs", "chart-view"].map((name) => {
    const box = document.createElement("div");
    box.className = name;
    return box;
  });
  inputs.setAttribute("role", "group");
  inputs.setAttribute("aria-label", "Settings of the chart");
  chart.append(inputs, view);
  image.after(chart);
  figure.classList.add("live");
  const spec = { ...JSON.parse(source.textContent), description: image.alt };
  for (const panel of spec.vconcat ?? []) panel.width = view.clientWidth - 80; // less the axis
  const options = { actions: false, ast: true, bind: inputs, logLevel: 1, renderer: "svg" };
  vegaEmbed(view, spec, options).catch((error) => {
    figure.classList.remove("live");
    chart.remove();
    console.error(error);
  });
}
