// The form of the page "Audit your own predictions"; audit.js does the counting.
"use strict";
(() => {
  const form = document.getElementById("audit");
  const [text, file, output] = ["text", "file", "output"].map((name) => document.getElementById(`audit-${name}`));
  const MOST_WORDS = 20; // of a scale; more are a wrong column
  const NAMES = { CHR_ext: "CHR_ext", J_c: "J_c", center_recall: "center recall", extreme_recall: "extreme recall", center_rate: "center rate", center_mass: "center mass" };
  const add = (parent, tag, content = "", attributes = {}) => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(content);
    parent.append(made);
    return made;
  };
  const shown = (number) => (Number.isNaN(number) ? "–" : Audit.fixed(number, 3));

  function table(parent, caption, heads, rows) {
    const made = add(add(parent, "div", "", { className: "audit-table", tabIndex: 0 }), "table", "", { className: "table" });
    add(made, "caption", caption);
    const head = add(add(made, "thead"), "tr");
    for (const name of heads) add(head, "th", name, { scope: "col" });
    const body = add(made, "tbody");
    for (const [name, ...cells] of rows) {
      const row = add(body, "tr");
      add(row, "th", name, { scope: "row" });
      for (const cell of cells) add(row, "td", cell, { className: cell.tagName ? "" : "text-right" });
    }
  }

  function bar(share) {
    const made = document.createElement("span");
    made.className = "audit-bar";
    made.style.width = `${6 * share}rem`;
    return made;
  }

  function show(made) {
    const { labels, answers, metrics } = made, low = labels[0], high = labels.at(-1);
    add(output, "p", made.sentence);
    add(output, "p", `${made.samples} samples, ${made.extreme} of them of ${low} or ${high}. Labels, lowest to highest: ` +
      `${labels.join(", ")}${made.assumed ? " (assumed, since they are whole numbers)" : ""}.`);
    table(output, `Metrics with 95 % intervals (${made.resamples} bootstrap resamples)`, ["metric", "value", "from", "to"],
      Object.entries(metrics).map(([name, each]) => [NAMES[name] ?? name, shown(each.value), shown(each.low), shown(each.high)]));
    const share = (counts, at) => counts[at] / counts.reduce((a, b) => a + b, 0);
    const percent = (value) => (Number.isNaN(value) ? "–" : `${Audit.fixed(100 * value, 0)} %`);
    table(output, `Where the samples of ${low} and ${high} go`, ["answer", "both", "", low, high],
      Audit.GROUPS.map((name, at) => {
        const [lowest, highest, both] = ["lowest", "highest", "both"].map((end) => share(answers[end], at));
        return [name, percent(both), bar(both || 0), percent(lowest), percent(highest)];
      }));
  }

  function run() {
    output.replaceChildren();
    const field = (name) => form.elements[name].value.trim();
    try {
      const labels = field("labels").split(",").map((each) => each.trim()).filter(Boolean);
      const options = { truth: field("truth"), predicted: field("predicted"), prefix: field("prefix"), labels };
      const answers = Audit.read(text.value, options);
      add(output, "p", "Counting …");
      setTimeout(() => { const made = Audit.audit(answers); output.replaceChildren(); show(made); });
    } catch (error) {
      add(output, "p", error.message, { className: "audit-error" });
      const words = error.found?.filter((label) => Number.isNaN(Number(label))) ?? [];
      if (2 * words.length > error.found?.length && error.found.length <= MOST_WORDS) propose(error.found);
    }
  }

  // Labels are words: the file's own, in the field where their order belongs.
  function propose(found) {
    const field = form.elements.labels;
    field.closest("details").open = true;
    field.value = found.join(", ");
    add(output, "p", "The labels that the file holds stand under “Columns and labels”, by the alphabet. " +
      "Bring them in order, lowest first, add those that are missing, and press Audit.");
    field.focus();
  }

  async function take(files) {
    if (!files.length) return;
    text.value = await files[0].text();
    run();
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); run(); });
  file.addEventListener("change", () => take(file.files));
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    form.classList.remove("over");
    if (!event.dataTransfer.files.length) return; // dropped text goes where it fell
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  form.hidden = false;
})();
