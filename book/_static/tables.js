// Filters of the tables with verdicts; names for the cells of tables that are cards on a phone; room
// in the margin for a table that is wider than the text, and a shade where it goes on to the right
// all the same.
const WORDS = ["reproduced", "direction only", "undecided", "not reproduced", "cannot be tested"];

// One choice per column of verdicts; a row is shown where all the choices agree with it.
function filter(table, box) {
  const rows = [...table.tBodies[0].rows];
  const columns = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const choices = columns.flatMap((name, column) => {
    const verdicts = rows.map((row) => row.cells[column]?.dataset.verdict);
    const words = WORDS.filter((word) => verdicts.includes(word));
    if (rows.length < 8 || words.length < 2) return [];
    const choice = document.createElement("select");
    choice.add(new Option(`all ${rows.length}`, ""));
    for (const word of words) {
      choice.add(new Option(`${word}: ${verdicts.filter((each) => each === word).length}`, word));
    }
    return [{ name, choice, verdicts }];
  });
  if (!choices.length) return;
  const bar = document.createElement("div");
  const count = document.createElement("output");
  bar.className = "table-filter";
  for (const { name, choice } of choices) {
    const label = document.createElement("label");
    label.append(`${name}: `, choice);
    bar.append(label);
  }
  bar.append(count);
  bar.addEventListener("change", () => {
    rows.forEach((row, at) => {
      row.hidden = choices.some((c) => c.choice.value && c.choice.value !== c.verdicts[at]);
    });
    count.textContent = `${rows.filter((row) => !row.hidden).length} rows`;
    shade(box);
  });
  box.before(bar);
}

// Each cell knows the head of its column: on a phone a row is a card.
function label(table) {
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, column) => (cell.dataset.label = names[column]));
  }
}

function shade(box) {
  const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
  box.parentElement.classList.toggle("goes-on", rest > 2);
}

for (const box of document.querySelectorAll(".pst-scrollable-table-container")) {
  const frame = document.createElement("div");
  frame.className = "table-frame";
  box.replaceWith(frame);
  frame.append(box);
  if (box.scrollWidth > box.clientWidth + 1) frame.classList.add("full-width");
  box.addEventListener("scroll", () => shade(box), { passive: true });
  new ResizeObserver(() => shade(box)).observe(box);
  const table = box.querySelector("table");
  if (box.closest(".cards")) label(table);
  if (table.querySelector("td[data-verdict]")) filter(table, frame);
}
