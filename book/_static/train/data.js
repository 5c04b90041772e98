// A reader's own table: read, split and standardized in the browser, from where it goes nowhere.
const MOST_ROWS = 20000, MOST_CLASSES = 20, LEAST = 5; // rows of a class

// Cells of a table whose cells are separated by commas, semicolons or tabs, perhaps in quotes.
function cellsOf(text) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/).filter((line) => line.trim());
  const mark = [",", ";", "\t"].sort((a, b) => lines[0]?.split(b).length - lines[0]?.split(a).length)[0];
  const cell = new RegExp(`(?:^|${mark})(?:"((?:[^"]|"")*)"|([^${mark}]*))`, "g");
  const content = ([, quoted, bare]) => (quoted?.replaceAll('""', '"') ?? bare).trim();
  return lines.map((line) => Array.from(line.matchAll(cell), content));
}

const isNumber = (cell) => cell !== "" && Number.isFinite(Number(cell));

// Names of the columns and rows of cells; without a heading, columns go by their number.
function readTable(text) {
  const rows = cellsOf(text);
  if (rows.length < 2) throw new Error("the file holds no table");
  const heading = rows[0].every(isNumber) ? rows[0].map((_, i) => `column ${i + 1}`) : rows.shift();
  const uneven = rows.findIndex((row) => row.length !== heading.length);
  if (uneven >= 0) throw new Error(`row ${uneven + 1} has ${rows[uneven].length} cells, the heading ${heading.length}`);
  if (rows.length > MOST_ROWS) throw new Error(`${rows.length} rows; this page takes up to ${MOST_ROWS}`);
  return { heading, rows };
}

// Features as numbers (one array per column), and names of the columns that hold none.
function featuresOf({ heading, rows }, target) {
  const columns = [], left = [];
  heading.forEach((name, column) => {
    if (column === target) return;
    const missing = rows.filter((row) => !isNumber(row[column])).length;
    if (missing === 0) return columns.push(rows.map((row) => Number(row[column])));
    if (missing > rows.length / 2) return left.push(name);
    throw new Error(`${name} isn't a number in row ${rows.findIndex((row) => !isNumber(row[column])) + 1}`);
  });
  if (!columns.length) throw new Error("no column of numbers is left for the features");
  return { columns, left };
}

// A data set as the worker takes it, with the target's column chosen. The split is 60/20/20 within
// each class, drawn by `RandomState(42)`: not the split that Python draws of the same file.
function prepareTable(table, target) {
  const { columns, left } = featuresOf(table, target), labels = table.rows.map((row) => row[target]);
  if (!labels.every(isNumber)) throw new Error("labels have to be numbers, from lowest to highest");
  const names = [...new Set(labels.map(Number))].sort((a, b) => a - b), K = names.length;
  if (K < 3 || K > MOST_CLASSES) throw new Error(`${K} different labels; allowed: 3 to ${MOST_CLASSES}`);
  const random = new RandomState(42), parts = { training: [], validation: [], test: [] };
  for (const name of names) {
    const own = labels.flatMap((label, row) => (Number(label) === name ? [row] : []));
    if (own.length < LEAST) throw new Error(`label ${name} has ${own.length} rows; allowed: ${LEAST} or more`);
    const drawn = Array.from(random.permutation(own.length), (i) => own[i]), fifth = Math.round(own.length / 5);
    parts.test.push(...drawn.slice(0, fifth));
    parts.validation.push(...drawn.slice(fifth, 2 * fifth));
    parts.training.push(...drawn.slice(2 * fifth));
  }
  const scaled = columns.map((values) => standardized(values, parts.training));
  const made = { classes: K, names: names.map(String), left };
  for (const [part, rows] of Object.entries(parts)) {
    const X = Float32Array.from(rows.flatMap((row) => scaled.map((values) => values[row])));
    made[part] = { X, y: Uint8Array.from(rows, (row) => names.indexOf(Number(labels[row]))) };
  }
  return made;
}

// A column centered and scaled by the rows that train.
function standardized(values, rows) {
  const mean = rows.reduce((sum, row) => sum + values[row], 0) / rows.length;
  const squares = rows.reduce((sum, row) => sum + (values[row] - mean) ** 2, 0);
  const scale = Math.sqrt(squares / rows.length) || 1;
  return values.map((value) => (value - mean) / scale);
}
