// Puts each chart in the place of its static figure and as wide as there is room. In print, without
// scripts and where a chart can't be drawn, the figure stays.
async function draw(source) {
  const figure = document.getElementById(source.dataset.chart);
  const image = figure.querySelector("img");
  const [chart, inputs, view] = ["chart", "chart-inputs", "chart-view"].map((name) => {
    const box = document.createElement("div");
    box.className = name;
    return box;
  });
  inputs.setAttribute("role", "group");
  inputs.setAttribute("aria-label", "Settings of the chart");
  view.tabIndex = 0; // for the keyboard, where a chart is wider than its place
  chart.append(inputs, view);
  try {
    await image.decode();
    image.after(chart);
    const spec = { ...JSON.parse(source.textContent), description: image.alt };
    for (const panel of spec.vconcat ?? [spec]) panel.width += view.clientWidth - image.naturalWidth;
    const options = { actions: false, ast: true, bind: inputs, renderer: "svg" };
    await vegaEmbed(view, spec, options);
    figure.classList.add("live");
  } catch (error) {
    chart.remove();
    console.error(error);
  }
}

document.querySelectorAll("script[data-chart]").forEach(draw);
