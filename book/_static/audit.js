// An audit of a classifier's answers: the twin of companion/page/audit.py and
// companion/data/csv_predictions.py, with the same random numbers and so the same intervals.
// Nothing here touches the page, and nothing leaves it.
"use strict";
const Audit = (() => {
  const RESAMPLES = 2000, SEED = 2026, MOST_ROWS = 2 ** 21 - 1;
  const SEPARATORS = [",", ";", "\t", "|", " "];
  const GROUPS = ["own class", "next to it", "between", "center", "beyond"];

  // Rows of trimmed cells, each with its line; quotes as in any CSV file, blank lines left out.
  function table(text, separator) {
    const rows = [];
    let row = [], cell = "", quoted = false, line = 1, start = 1;
    const end = () => { row.push(cell.trim()); cell = ""; };
    const next = () => {
      end();
      if (row.length > 1 || row[0]) rows.push(Object.assign(row, { line: start }));
      row = [], start = line;
    };
    for (let at = 0; at < text.length; at++) {
      const sign = text[at];
      if (sign === "\n" || (sign === "\r" && text[at + 1] !== "\n")) line++;
      if (quoted && sign === '"' && text[at + 1] === '"') { cell += '"'; at++; }
      else if (sign === '"' && (quoted || !cell.trim())) { quoted = !quoted; cell = cell.trim(); }
      else if (quoted) cell += sign;
      else if (sign === "\n") next();
      else if (sign === "\r") { if (text[at + 1] !== "\n") next(); }
      else if (sign !== separator) cell += sign;
      else if (separator !== " " || cell) end();
    }
    next();
    return rows;
  }

  const refuse = (text, about = {}) => { throw Object.assign(new Error(text), about); };
  const label = (text) => (/^[+-]?\d{1,15}(\.0*)?$/.test(text) ? Number(text) : text);

  function scale(columns, names, order) {
    let known = order.map(label);
    if (!order.length) {
      const found = [...new Set(names.flatMap((name) => columns[name]))].sort();
      for (const name of names) columns[name].forEach((text, at) => {
        if (typeof label(text) === "string") refuse(`line ${columns.lines[at]}, column '${name}': '${text}' is ` +
          "no whole number; allowed: whole numbers, or the labels that you name, lowest first", { found });
      });
      known = [...new Set(names.flatMap((name) => [...new Set(columns[name])].map(label)))];
      known.sort((a, b) => a - b);
      const gap = known.findIndex((value, at) => at && value > known[at - 1] + 1);
      if (gap > 0) refuse(`no label lies between ${known[gap - 1]} and ${known[gap]}, and errors ` +
        "count steps; name all labels of the scale, lowest first");
    }
    if (new Set(known).size < known.length || known.length < 3 || known.length > 256) {
      refuse(`the labels are ${known.join(",")}; allowed: 3 to 256 different ones; name those ` +
        "that the file lacks");
    }
    return known;
  }

  function probability(text, name, line) {
    const number = /^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text.replace(",", ".")) : NaN;
    if (!(number >= 0 && number <= 1)) refuse(`line ${line}, column '${name}': '${text}' is no ` +
      "probability; allowed: numbers from 0 to 1");
    return number;
  }

  function probabilities(columns, wanted, there) {
    if (!there.length) return null;
    const odd = [...wanted.filter((n) => !there.includes(n)), ...there.filter((n) => !wanted.includes(n))];
    if (odd.length) refuse(`line 1: ${there.includes(odd[0]) ? "there is a column" : "no column"} ` +
      `'${odd[0]}'; allowed: none of these or ${wanted.join(", ")}`);
    return columns[wanted[0]].map((_, at) => {
      const row = wanted.map((name) => probability(columns[name][at], name, columns.lines[at]));
      const sum = row.reduce((a, b) => a + b);
      if (Math.abs(sum - 1) > Math.max(0.01, 0.005 * wanted.length) + 1e-9) refuse(`line ${columns.lines[at]}, columns '${wanted[0]}' to ` +
        `'${wanted.at(-1)}': they sum to ${sum.toFixed(3)}; allowed: 1, rounded to two digits or more`);
      return row.map((share) => share / sum);
    });
  }

  // Ranks and labels from a file's text; throws an Error that names line, column and what is allowed.
  function read(text, { truth = "true", predicted = "predicted", labels = [], prefix = "p_" } = {}) {
    text = text.replace(/^\ufeff/, "");
    const first = text.slice(0, text.search(/[\r\n]|$/));
    const split = (sep) => table(first, sep)[0] ?? [];
    const separator = SEPARATORS.find((sep) => split(sep).includes(truth)) ?? ",";
    const [names = [], ...rows] = table(text, separator), answers = [truth, predicted];
    for (const name of answers) {
      if (names.filter((each) => each === name).length !== 1) refuse(`line 1: ` +
        `${names.includes(name) ? "more than one" : "no"} column '${name}'; allowed: ${names.join(", ")}`);
    }
    if (!rows.length || rows.length > MOST_ROWS) refuse(`it has ${rows.length} rows; allowed: 1 to ${MOST_ROWS}`);
    const bad = rows.findIndex((row) => row.length !== names.length);
    if (bad >= 0) refuse(`line ${rows[bad].line} has ${rows[bad].length} cells; allowed: ${names.length}`);
    const there = names.filter((name) => name.startsWith(prefix) && !answers.includes(name));
    const columns = Object.fromEntries([...answers, ...there].map((name) => {
      const at = names.indexOf(name);
      return [name, rows.map((row) => row[at])];
    }));
    columns.lines = rows.map((row) => row.line);
    const known = scale(columns, answers, labels);
    const shown = labels.length ? labels : known.map(String);
    const ranks = (name) => columns[name].map((cell, at) => {
      const rank = known.indexOf(label(cell));
      if (rank < 0) refuse(`line ${columns.lines[at]}, column '${name}': '${cell}' is no label; allowed: ${shown.join(",")}`);
      return rank;
    });
    const [yTrue, yPred] = answers.map(ranks);
    const shares = probabilities(columns, shown.map((each) => prefix + each), there);
    return { yTrue, yPred, shares, labels: shown, assumed: !labels.length };
  }

  // Metrics of a confusion matrix: counts[true * k + predicted].
  function figures(counts, k) {
    const c = (k - 1) >> 1, rows = Array(k).fill(0), columns = Array(k).fill(0), off = Array(k).fill(0);
    let n = 0, apart = 0, squares = 0, sumTrue = 0, sumPred = 0;
    for (let t = 0; t < k; t++) for (let p = 0; p < k; p++) {
      const count = counts[t * k + p];
      n += count; rows[t] += count; columns[p] += count; off[t] += count * Math.abs(t - p);
      apart += count * (t - p) ** 2; squares += count * (t * t + p * p);
      sumTrue += count * t; sumPred += count * p;
    }
    const sum = (values) => values.reduce((a, b) => a + b, 0);
    const hedged = (ends) => {
      if (ends > c) return NaN;
      const classes = rows.map((_, t) => t).filter((t) => t < ends || t >= k - ends);
      return sum(classes.map((t) => counts[t * k + c])) / sum(classes.map((t) => rows[t]));
    };
    const chance = n * squares - 2 * sumTrue * sumPred, present = rows.flatMap((r, t) => (r ? [t] : []));
    const made = { CHR: hedged(1), CHR_ext: hedged(2) };
    made.J_c = counts[c * k + c] / rows[c] - made.CHR_ext;
    made.QWK = chance ? (chance - n * apart) / chance : 0;
    made.MAE = sum(off) / n;
    made.AMAE = sum(present.map((t) => off[t] / rows[t])) / present.length;
    made.center_recall = counts[c * k + c] / rows[c];
    made.extreme_recall = (counts[0] + counts[k * k - 1]) / (rows[0] + rows[k - 1]);
    made.center_rate = columns[c] / n;
    return made;
  }

  // SplitMix32: the draw's number, mixed by MurmurHash3's finalizer.
  function mixed(number) {
    let z = (Math.imul(number + 1, 0x9e3779b9) + SEED) | 0;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  }

  function interval(values) {
    const sorted = Float64Array.from(values.filter((value) => !Number.isNaN(value))).sort();
    const out = Math.floor(sorted.length / 40);
    return { low: sorted[out] ?? NaN, high: sorted.at(-1 - out) ?? NaN };
  }

  // The two outermost classes on each side; with fewer than five classes the outermost.
  const extremes = (k) => (k >= 5 ? [0, 1, k - 2, k - 1] : [0, k - 1]);

  // Of each sample its ranked probability score; its center mass, where CHR_ext counts it; the
  // probability of the extreme classes; and the same where the answer is the center, else 0.
  function scores({ yTrue, yPred, shares }, k) {
    const c = (k - 1) >> 1;
    return yTrue.map((y, at) => {
      let reached = 0, squares = 0;
      for (let j = 0; j < k - 1; j++) {
        reached += shares[at][j];
        squares += (reached - (y <= j)) ** 2;
      }
      const counted = c >= 2 && (y < 2 || y >= k - 2);
      const belief = extremes(k).reduce((sum, j) => sum + shares[at][j], 0);
      return [squares / (k - 1), counted ? shares[at][c] : NaN, belief, yPred[at] === c ? belief : 0];
    });
  }

  // Hedging is the rate that is seen minus the one that the probabilities ask for.
  function meanScores(scored, seen) {
    let rps = 0, mass = 0, counted = 0, belief = 0, center = 0;
    for (const [score, share, extreme, answered] of scored) {
      rps += score; belief += extreme; center += answered;
      if (!Number.isNaN(share)) { mass += share; counted++; }
    }
    const asked = center / belief;
    return { RPS: rps / scored.length, center_mass: mass / counted, hedging: seen - asked, asked };
  }

  function groups(answers, k, ends) {
    const c = (k - 1) >> 1, counts = GROUPS.map(() => 0);
    answers.yTrue.forEach((y, at) => {
      if (!ends.includes(y)) return;
      const steps = Math.abs(answers.yPred[at] - y), middle = Math.abs(c - y);
      counts[!steps ? 0 : steps === middle ? 3 : steps > middle ? 4 : steps === 1 ? 1 : 2]++;
    });
    return counts;
  }

  function audit(answers, resamples = RESAMPLES) {
    const k = answers.labels.length, n = answers.yTrue.length, { yTrue, yPred, shares } = answers;
    const place = (at) => yTrue[at] * k + yPred[at];
    const order = yTrue.map((_, at) => at).sort((a, b) => place(a) - place(b) || a - b);
    const cells = Int32Array.from(order, place);
    const scored = shares && scores(answers, k);
    const rows = scored && order.map((at) => scored[at]);
    const count = (each) => {
      const counts = new Float64Array(k * k);
      for (let at = 0; at < n; at++) counts[cells[each(at)]]++;
      const made = figures(counts, k), seen = k >= 5 ? made.CHR_ext : made.CHR;
      return { ...made, ...(rows && meanScores(order.map((_, at) => rows[each(at)]), seen)) };
    };
    const values = count((at) => at), drawn = Object.fromEntries(Object.keys(values).map((name) => [name, []]));
    for (let first = 0; first < n * resamples; first += n) {
      const made = count((at) => Math.floor((mixed(first + at) * n) / 2 ** 32));
      for (const name in made) drawn[name].push(made[name]);
    }
    const metrics = {};
    for (const name in values) metrics[name] = { value: values[name], ...interval(drawn[name]) };
    const { hedging = null, asked = null } = metrics;
    delete metrics.hedging;
    delete metrics.asked;
    const made = {
      labels: answers.labels, assumed: answers.assumed, samples: n, resamples, hedging, asked, metrics,
      extreme: yTrue.filter((y) => y === 0 || y === k - 1).length, center: answers.labels[(k - 1) >> 1],
      answers: { lowest: groups(answers, k, [0]), highest: groups(answers, k, [k - 1]), both: groups(answers, k, [0, k - 1]) },
    };
    return { ...made, sentence: sentence(made) };
  }

  // As Python rounds: to the even digit where a number lies half-way.
  function fixed(number, digits) {
    const scaled = Math.abs(number) * 10 ** digits;
    const halfWay = scaled % 1 === 0.5 && (number * 16) % 1 === 0;
    const rounded = halfWay ? (Math.sign(number) * 2 * Math.round(scaled / 2)) / 10 ** digits : number;
    return rounded.toFixed(digits).replace("-", "−");
  }

  function sentence({ labels, center, metrics, hedging, asked }) {
    const k = labels.length, ends = extremes(k).map((at) => labels[at]), percent = (share) => fixed(100 * share, 1);
    const rate = k >= 5 ? metrics.CHR_ext : metrics.CHR, named = `${ends.slice(0, -1).join(", ")} and ${ends.at(-1)}`;
    if (Number.isNaN(rate.value)) return `No sample is of class ${named}, so nothing can be said about hedging.`;
    const seen = `the answer is ${center}, the center, for ${percent(rate.value)} % of the samples of `;
    if (!hedging) {
      return `Whether it hedges can't be told from labels alone; ${seen}${named} (95 % interval ${percent(rate.low)} ` +
        `to ${percent(rate.high)}). A column of probabilities per label says how many of them its belief asks for.`;
    }
    const verdict = hedging.low > 0 ? "It hedges more than its belief asks for"
      : hedging.high < 0 ? "It hedges less than its belief asks for"
        : "It hedges no more and no less than its belief asks for, as far as these samples show";
    const [value, from, to] = ["value", "low", "high"].map((key) => (hedging[key] < 0 ? "" : "+") + percent(hedging[key]));
    return `${verdict}: ${seen}${named}, where its own probabilities ask for ${percent(asked.value)} %, ` +
      `a difference of ${value} points (95 % interval ${from} to ${to}).`;
  }

  return { GROUPS, read, audit, fixed };
})();
