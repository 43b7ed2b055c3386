// The page: loads Python once, hands the table to it, and shows what it answers.
// Everything from a table is inserted as text; the policy of the page refuses HTML from strings.
"use strict";

const SECOND = 1000;
const count = n => Number(n).toLocaleString("en");
const percent = x => x > 0 && x < 0.001 ? "less than 0.1 %" : `${Number((100 * x).toFixed(x < 0.1 ? 1 : 0))} %`;
const people = n => `${count(n)} ${n === 1 ? "person" : "people"}`;
const KINDS = { text: "text, a category", integer: "whole number", decimal: "number 1.5",
                "decimal-comma": "number 1,5", date: "date 2024-12-31", ordered: "text in alphabetical order" };
const ROLES = { out: "leave out", known: "known to others", secret: "secret", identifier: "identifies a person: leave out" };
const HEEDS = { mondrian: "klt", full_domain: "klt", tds: "lt", tp_plus: "l", tp: "l", hilbert: "l" };
const FORMS = { mondrian: ["generalize", "suppress"], full_domain: ["recode"], tds: ["recode"],
                tp_plus: ["suppress", "generalize"], tp: ["suppress", "generalize"],
                hilbert: ["generalize", "suppress"] };
const SHOWN = 20;
const LARGEST = 60e6;  // bytes of a file; much larger ones do not fit in the memory of a tab

// ---- small helpers --------------------------------------------------------------------------

function tell(id, text, how = "") {
  $(id).textContent = text;
  $(id).className = `message ${how}`;
}

/** Text with numbers in bold: the parts at odd places. */
function withBold(element, ...parts) {
  element.replaceChildren(...parts.map((part, i) => i % 2 ? make("b", {}, part) : part));
}

$("load").onclick = async () => {
  if (!await load()) return;
  $("s-load").classList.add("done");
  $("loaded").textContent = "Ready. The tool needs no network from now on: you may disconnect before you choose a table.";
  $("s-table").hidden = false;
};

// ---- asking Python --------------------------------------------------------------------------

/** Ask, and say so if it takes over a second; null if it failed, which the page then says. */
async function askAndTell(place, what, name, args, file) {
  const began = performance.now();
  const tick = setInterval(() => {
    const seconds = Math.round((performance.now() - began) / SECOND);
    if (seconds < 1) return;
    tell(place, `${what}: ${seconds} s`);
    $("stop").hidden = false;
    $(place).after($("stop"));
  }, SECOND / 4);
  try {
    const answer = await ask(name, args, file);
    tell(place, "");
    return answer;
  } catch (error) {
    if (!error.fatal) tell(place, error.message, "bad");
    else await recover(place, error);
    return null;
  } finally {
    clearInterval(tick);
    $("stop").hidden = true;
  }
}

/** Python itself failed, or was stopped: begin with a new one. */
async function recover(place, error) {
  const stopped = error.message === "stopped";
  const memory = /memory|allocat|out of bounds/i.test(error.message);
  tell(place, stopped ? "Stopped. Starting Python again" : "Python failed. Starting it again");
  worker.terminate();
  queue = Promise.resolve();
  await start();
  tell(place, stopped ? "Stopped. Choose the table again, with other settings or fewer columns."
    : memory ? "The table does not fit in the memory of a browser tab. Use the command line, or choose the table again with fewer rows or columns."
    : `Something failed that should not: ${error.message.split("\n").pop()}. Choose the table again.`, "bad");
  table = null;
  for (const id of ["s-columns", "s-now", "s-protect", "s-save", "how"]) $(id).hidden = true;
}

$("stop").onclick = () => {
  for (const call of waiting.values()) call.reject(Object.assign(new Error("stopped"), { fatal: true }));
  waiting.clear();
};

// ---- the table ------------------------------------------------------------------------------

let table = null, chosen = null, types = {}, roles = null, current = 0;

$("file").onchange = () => { if ($("file").files[0]) choose($("file").files[0]); $("file").value = ""; };
$("example").onclick = async () => {
  const made = await askAndTell("told", "Drawing people", "example", { path: "/example.csv" });
  if (made) choose(new File([made.content], "example.csv"), ["identifier", "known", "known", "known", "known", "secret"]);
};
$("separator").onchange = $("encoding").onchange = () => {
  types = {};
  read($("separator").value, $("encoding").value);
};

function choose(file, proposed = null) {
  chosen = file;
  types = {};
  roles = proposed;
  read(null, null);
}

async function read(delimiter, encoding) {
  const mine = ++current;
  for (const id of ["s-columns", "s-now", "s-protect", "s-save"]) $(id).hidden = true;
  if (chosen.size > LARGEST) {
    tell("told", `${chosen.name} has ${count(Math.round(chosen.size / 1e6))} MB. This page takes up to ${LARGEST / 1e6} MB: use the command line for larger tables.`, "bad");
    $("how").hidden = true;
    return;
  }
  const ending = (chosen.name.match(/\.(xlsx|xlsm|csv\.gz|tsv\.gz|gz|tsv)$/i) || [".csv"])[0].toLowerCase();
  tell("told", `Reading ${chosen.name}`);
  const found = await askAndTell("told", `Reading ${chosen.name}`, "read",
    { path: `/table${ending}`, name: chosen.name, delimiter, encoding, types }, chosen);
  $("how").hidden = !chosen || /\.xls[xm]$/i.test(chosen.name);
  if (delimiter) $("separator").value = delimiter;
  if (encoding) $("encoding").value = encoding;
  if (!found || mine !== current) return;
  table = found;
  $("separator").value = found.separator;
  $("encoding").value = found.encoding;
  if (!roles || roles.length !== found.columns.length) roles = found.columns.map(one => one.role);
  tell("told", [`${chosen.name}: ${count(found.rows)} rows, ${count(found.columns.length)} columns.`, ...found.notes].join(" "),
       found.notes.length ? "note" : "good");
  showColumns();
  $("s-columns").hidden = false;
  prepare();
}

function select(options, value, label, change) {
  const list = make("select", { "aria-label": label });
  for (const [key, text] of Object.entries(options)) list.append(make("option", { value: key }, text));
  list.value = value;
  list.onchange = () => change(list.value);
  return list;
}

function showColumns() {
  $("columns").tBodies[0].replaceChildren(...table.columns.map((column, i) => {
    const kinds = { ...KINDS };
    if (column.doubt && !(column.doubt in kinds)) kinds[column.doubt] = `date ${column.doubt}`;
    if (!(column.kind in kinds)) kinds[column.kind] = `date ${column.kind}`;
    const readAs = make("td", {}, select(kinds, column.kind, `How ${column.name} is read`, async kind => {
      const before = { ...types };
      types[column.name] = kind;
      await read($("separator").value, $("encoding").value);
      if ($("told").classList.contains("bad")) {  // it cannot be read so: as before, and the error stays
        const text = $("told").textContent;
        types = before;
        await read($("separator").value, $("encoding").value);
        tell("told", text, "bad");
        $("told").scrollIntoView({ block: "nearest" });
      }
    }));
    if (column.doubt) readAs.append(make("span", { class: "doubt" }, `Or is it ${kinds[column.doubt]}? Please choose.`));
    const missing = column.missing ? `, ${count(column.missing)} empty` : "";
    return make("tr", {}, make("th", { scope: "row" }, column.name || "(no name)"),
      make("td", {}, select(ROLES, roles[i], `What ${column.name} is`, role => { roles[i] = role; prepare(); })),
      readAs,
      make("td", {}, `${count(column.distinct)} different${missing}`,
           make("span", { class: "muted" }, column.examples.length ? `, such as ${column.examples.join(", ")}` : "")));
  }));
}

$("missing").onchange = () => prepare();

async function prepare() {
  const mine = ++current;
  const found = await askAndTell("columns-told", "Counting people who look alike", "prepare",
    { roles, missing: $("missing").value });
  if (mine !== current) return;
  for (const id of ["s-now", "s-protect", "s-save"]) $(id).hidden = !found;
  if (!found) return;
  table.now = found;
  showNow(found);
  const secret = found.secrets.length > 0;
  $("l").max = Math.max(1, Math.min(20, found.most_l));
  $("l").value = wanted;
  for (const id of ["l", "t"]) $(id).dataset.possible = secret ? "yes" : "";
  for (const option of $("method").options)
    option.disabled = !secret && !HEEDS[option.value].includes("k");
  if ($("method").selectedOptions[0].disabled) $("method").value = "mondrian";
  showControls();
  protect();
}

function showNow(found) {
  const dropped = found.dropped ? ` ${count(found.dropped)} rows with empty fields are left out.` : "";
  const by = found.by ? ` Rows with the same ${found.by} are one person.` : "";
  withBold($("now"), "By the columns that others may know, ", `${count(found.unique)} of ${people(found.people)}`,
    ` (${percent(found.unique / found.people)}) ${found.unique === 1 ? "is" : "are"} unique: who knows those values finds the person in the table. `
    + `${count(found.below5)} share their values with fewer than four others.${by}${dropped}`);
  const secrets = found.secrets.map(one => make("p", {},
    `Secret ${one.name}: the most frequent value is “${one.value}”, with ${percent(one.share)} of the people. `
    + (found.most_l > 1 ? `So nobody can be protected beyond 1 in ${found.most_l}.` : "More than half of the people share it, so no method can hide it from a guess.")));
  const most = found.without.length > 1 && found.unique
    ? [make("p", {}, `Without one of the columns this many would be unique: ${found.without.map(([name, left]) => `without ${name}, ${count(left)}`).slice(0, 12).join("; ")}.`)] : [];
  $("without").replaceChildren(...secrets, ...most);
}

// ---- protection -----------------------------------------------------------------------------

const KS = [2, 3, 5, 10, 20, 50, 100, 200, 500];

function asked() {
  const heeds = HEEDS[$("method").value];
  const on = id => heeds.includes(id) && (id === "k" || $(id).dataset.possible);
  return { method: $("method").value, form: $("form").value, k: on("k") ? KS[$("k").value] : 1,
           l: on("l") ? Number($("l").value) : 1, t: on("t") ? Number($("t").value) : 1 };
}

function showControls() {
  const method = $("method").value, heeds = HEEDS[method];
  for (const option of $("form").options) option.hidden = option.disabled = !FORMS[method].includes(option.value);
  if (!FORMS[method].includes($("form").value)) $("form").value = FORMS[method][0];
  $("k").max = Math.max(0, KS.filter(k => k <= (table.now.people || 2)).length - 1);
  $("l").min = heeds.includes("k") ? 1 : 2;
  for (const id of ["k", "l", "t"]) {
    const off = !heeds.includes(id) || (id !== "k" && !$(id).dataset.possible);
    $(id).disabled = off;
    $(id).parentElement.classList.toggle("off", off);
  }
  const l = Number($("l").value), t = Number($("t").value);
  const reason = id => heeds.includes(id) ? "(choose a secret column)" : "(not by this method)";
  $("k-is").textContent = $("k").disabled ? reason("k") : KS[$("k").value] === 2 ? "one other" : `${KS[$("k").value] - 1} others`;
  $("l-is").textContent = $("l").disabled ? reason("l") : l > 1 ? `once in ${l}` : "any time: off";
  $("t-is").textContent = $("t").disabled ? reason("t") : t < 1 ? t.toFixed(2) : "anything: off";
  for (const id of ["k", "l", "t"]) $(id).setAttribute("aria-valuetext", $(`${id}-is`).textContent);
}

let pause = null, wanted = 2;  // the l that was chosen, also while a table allows less
$("l").addEventListener("input", () => { wanted = $("l").value; });
for (const id of ["k", "l", "t", "method", "form"])
  $(id).addEventListener("input", () => {
    showControls();
    clearTimeout(pause);
    pause = setTimeout(protect, 150);
  });

let running = null, again = false;
/** Run the method; of several requests meanwhile only the last one follows. */
async function protect() {
  if (running) { again = true; return; }
  do {
    again = false;
    running = asked();
    $("result").setAttribute("aria-busy", "true");
    const found = await askAndTell("working", "Working", "protect", running);
    running = null;
    $("result").removeAttribute("aria-busy");
    if (again) continue;
    $("result").hidden = $("s-save").hidden = !found;
    if (found) {
      table.result = found;
      showResult(found);
      await showRows();
    }
  } while (again);
}

function showResult(found) {
  const now = table.now, all = found.published + found.withheld;
  const sure = found.sure === null ? [" of the detail."]
    : [" of the detail. The surest guess at a secret is right with ", percent(found.sure), ` (before: ${percent(now.sure)}).`];
  withBold($("finding"), "Now ", people(found.alone), ` ${found.alone === 1 ? "is" : "are"} unique (before: ${count(now.alone)}), and everybody looks like at least `,
    `${count(found.smallest - 1)} other${found.smallest === 2 ? "" : "s"}`, ". This costs ", percent(found.loss), ...sure);
  const promises = found.promises.map(one => make("li", { class: one.holds ? "yes" : "no" },
    make("b", {}, one.holds ? "✓ kept: " : "✗ not kept: "), promise(one.text)));
  if (found.withheld) promises.push(make("li", {}, `${count(found.withheld)} of ${count(all)} rows are not published.`));
  promises.push(make("li", { class: "muted" }, `${count(found.classes)} groups of people who look alike; ${found.seconds.toFixed(1)} s.`));
  $("promises").replaceChildren(...promises);
  $("loss").textContent = `Detail lost: ${found.columns.map(one => `${one.name} ${percent(one.lost)}`).join(", ")}.`;
  $("levels").tBodies[0].replaceChildren(...found.levels.map(row => make("tr", {}, ...row.map(text => make("td", {}, text)))));
  $("call").textContent = found.call;
  tell("saved", "");
  $("warnings").replaceChildren(...found.warnings.length
    ? [make("p", {}, make("b", {}, "Before you share it, know this:")), make("ul", {}, ...found.warnings.map(text => make("li", {}, warning(text))))] : []);
}

/** A promise in plain words, its name behind. */
function promise(text) {
  const value = (text.match(/[\d.]+/) || [""])[0];
  const plain = text.startsWith("KAnonymity") ? `everybody looks like at least ${value - 1} other${value === "2" ? "" : "s"}`
    : text.startsWith("FrequencyL") ? `in no group does a secret value have more than 1 in ${value} people`
    : text.startsWith("TCloseness") ? `secrets in a group differ from the whole table by at most ${value}` : "";
  return plain ? `${plain} (${text})` : text;
}

/** A warning of the package, in plain words first where it has a name of its own. */
function warning(text) {
  return text.startsWith("minimality attack")
    ? `The method looks at the secrets when it forms groups. Somebody who knows the method can sometimes conclude more than the numbers above say. (${text})`
    : text;
}

// ---- rows and files -------------------------------------------------------------------------

async function showRows() {
  const found = await askAndTell("working", "Looking up rows", "rows", { count: SHOWN });
  if (!found) return;
  const heads = side => found.names.map((name, j) => make("th", { scope: "col", class: side === "before" ? "old" : j ? "" : "edge" }, name));
  $("rows").tHead.replaceChildren(
    make("tr", {}, make("td"), make("th", { colspan: found.names.length, scope: "colgroup", class: "old" }, "your table"),
         make("th", { colspan: found.names.length, scope: "colgroup", class: "edge" }, "safe table")),
    make("tr", {}, make("th", { scope: "col" }, "row"), ...heads("before"), ...heads("after")));
  $("rows").tBodies[0].replaceChildren(...found.rows.map(row => {
    const look = (j, text) => [found.secret[j] ? "secret" : "", text !== null && text !== row.before[j] ? "changed" : ""].join(" ");
    const after = row.after
      ? row.after.map((text, j) => make("td", { class: `${look(j, text)} ${j === 0 ? "edge" : ""}`, title: text }, text,
          ...text === row.before[j] ? [] : [make("span", { class: "was" }, `was ${row.before[j]}`)]))
      : [make("td", { colspan: found.names.length, class: "edge muted" }, "not published")];
    return make("tr", {}, make("th", { scope: "row" }, count(row.number)),
      ...row.before.map((text, j) => make("td", { class: `old ${look(j, null)}`, title: text }, text)), ...after);
  }));
}

async function save(name, path, as, type, said) {
  const made = await askAndTell("saved", "Writing", name, { path });
  if (!made) return;
  const address = URL.createObjectURL(new Blob([made.content], { type }));
  make("a", { href: address, download: as }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60 * SECOND);
  tell("saved", said, "good");
}
$("save").onclick = () => save("write", "/safe.csv", "safe.csv", "text/csv",
  "Saved as safe.csv, with the promises checked again on the rows. Read the notes below before you share it.");
$("save-report").onclick = () => save("write_report", "/report.html", "report.html", "text/html",
  "Saved as report.html. It is for you: do not publish it.");

for (const [id, value] of [["k", 2], ["t", 1]]) $(id).value = value;
if (location.protocol === "file:") $("load").click();
