// The page: loads Python once, hands the table to it, and shows what it answers.
// Everything from a table is inserted as text; the policy of the page refuses HTML from strings.
"use strict";

const count = n => Number(n).toLocaleString("en");
const percent = x => x > 0 && x < 0.001 ? "less than 0.1 %" : `${Number((100 * x).toFixed(x < 0.1 ? 1 : 0))} %`;
const people = n => `${count(n)} ${n === 1 ? "person" : "people"}`;
const ROLES = { out: "leave out", known: "known to others", secret: "secret", identifier: "identifies a person: leave out" };
const TAKES = { mondrian: "kl", full_domain: "kl", tds: "l", tp_plus: "l", hilbert: "l" };
const KS = [2, 3, 5, 10, 20, 50, 100, 200, 500];
const LARGEST = 60e6;  // bytes of a file; much larger ones do not fit in the memory of a tab

function tell(id, text, how = "") {
  $(id).textContent = text;
  $(id).className = `message ${how}`;
}

/** Text with numbers in bold: the parts at odd places. */
function withBold(element, ...parts) {
  element.replaceChildren(...parts.map((part, i) => i % 2 ? make("b", {}, part) : part));
}

function hide(...ids) {
  for (const id of ids) $(id).hidden = true;
}

$("load").onclick = async () => {
  if (!await load()) return;
  $("loaded").textContent = "Ready. The tool needs no network from now on: you may disconnect before you choose a table.";
  $("s-table").hidden = false;
};

// ---- asking Python --------------------------------------------------------------------------

/** Ask, and say so if it takes long; null if it failed, which the page then says. */
async function askAndTell(place, what, name, args, file) {
  const wait = setTimeout(() => {
    tell(place, what);
    $("stop").hidden = false;
    $(place).after($("stop"));
  }, 1000);
  try {
    const answer = await ask(name, args, file);
    tell(place, "");
    return answer;
  } catch (error) {
    tell(place, error.message, "bad");
    if (error.fatal) await recover(place, error);
    return null;
  } finally {
    clearTimeout(wait);
    hide("stop");
  }
}

/** Python itself failed, or was stopped: begin with a new one. */
async function recover(place, error) {
  worker.terminate();
  queue = Promise.resolve();
  await start();
  hide("s-columns", "s-now", "s-protect", "s-save");
  tell(place, error.message === "stopped" ? "Stopped. Choose the table again, with other settings or fewer columns."
    : `Python failed: ${error.message.split("\n").pop()}. Choose the table again, with fewer rows or columns.`, "bad");
}

$("stop").onclick = () => {
  for (const call of waiting.values()) call.reject(Object.assign(new Error("stopped"), { fatal: true }));
  waiting.clear();
};

// ---- the table ------------------------------------------------------------------------------

let table = null, roles = null, current = 0;

$("file").onchange = () => { if ($("file").files[0]) read($("file").files[0]); $("file").value = ""; };
$("example").onclick = async () => {
  const made = await askAndTell("told", "Drawing people", "example", { path: "/example.csv" });
  if (made) read(new File([made.content], "example.csv"), ["identifier", "known", "known", "known", "known", "secret"]);
};

async function read(file, proposed) {
  const mine = ++current;
  hide("s-columns", "s-now", "s-protect", "s-save");
  if (file.size > LARGEST) {
    tell("told", `${file.name} is too large: this page takes up to ${LARGEST / 1e6} MB. Use the command line.`, "bad");
    return;
  }
  const ending = (file.name.match(/\.(xlsx|xlsm|csv\.gz|tsv\.gz|gz|tsv)$/i) || [".csv"])[0].toLowerCase();
  const found = await askAndTell("told", `Reading ${file.name}`, "read", { path: `/table${ending}`, name: file.name }, file);
  if (!found || mine !== current) return;
  table = found;
  roles = proposed || found.columns.map(one => one.role);
  const note = found.encoding === "cp1252" ? " The file is not UTF-8. It was read as Windows-1252: look at the accents." : "";
  tell("told", `${file.name}: ${count(found.rows)} rows, ${count(found.columns.length)} columns.${note}`, note ? "note" : "good");
  $("columns").tBodies[0].replaceChildren(...found.columns.map(showColumn));
  $("s-columns").hidden = false;
  prepare();
}

function showColumn(column, i) {
  const role = make("select", { "aria-label": `What ${column.name} is` });
  for (const [key, text] of Object.entries(ROLES)) role.append(make("option", { value: key }, text));
  role.value = roles[i];
  role.onchange = () => { roles[i] = role.value; prepare(); };
  const missing = column.missing ? `, ${count(column.missing)} empty` : "";
  return make("tr", {}, make("th", { scope: "row" }, column.name || "(no name)"), make("td", {}, role),
    make("td", {}, column.kind),
    make("td", {}, `${count(column.distinct)} different${missing}, such as ${column.examples.join(", ")}`));
}

async function prepare() {
  const mine = ++current;
  const found = await askAndTell("columns-told", "Counting people who look alike", "prepare", { roles });
  if (mine !== current) return;
  for (const id of ["s-now", "s-protect", "s-save"]) $(id).hidden = !found;
  if (!found) return;
  table.now = found;
  withBold($("now"), "By the columns that others may know, ", `${count(found.alone)} of ${people(found.people)}`,
    ` (${percent(found.alone / found.people)}) ${found.alone === 1 ? "is" : "are"} unique: who knows those values finds the person in the table. `
    + `${count(found.below5)} share their values with fewer than four others.`
    + (found.by ? ` Rows with the same ${found.by} are one person.` : "")
    + (found.has_secret ? ` Nobody can be protected beyond a guess that is right once in ${found.most_l}.` : ""));
  $("l").max = Math.max(1, Math.min(20, found.most_l));
  $("l").value = wanted;
  $("k").max = Math.max(0, KS.filter(k => k <= found.people).length - 1);
  for (const option of $("method").options) option.disabled = !found.has_secret && TAKES[option.value] === "l";
  if ($("method").selectedOptions[0].disabled) $("method").value = "mondrian";
  showControls();
  protect();
}

// ---- protection -----------------------------------------------------------------------------

function showControls() {
  const takes = TAKES[$("method").value];
  $("k").disabled = !takes.includes("k");
  $("l").disabled = !table.now.has_secret;
  $("l").min = takes === "l" ? 2 : 1;
  const k = KS[$("k").value] - 1, l = Number($("l").value);
  $("k-is").textContent = $("k").disabled ? "(not by this method)" : k === 1 ? "one other" : `${k} others`;
  $("l-is").textContent = $("l").disabled ? "(choose a secret column)" : l > 1 ? `once in ${l}` : "any time: off";
  for (const id of ["k", "l"]) $(id).setAttribute("aria-valuetext", $(`${id}-is`).textContent);
}

let pause = null, wanted = 2;  // the l that was chosen, also while a table allows less
$("l").addEventListener("input", () => { wanted = $("l").value; });
for (const id of ["k", "l", "method"])
  $(id).addEventListener("input", () => {
    showControls();
    clearTimeout(pause);
    pause = setTimeout(protect, 150);
  });

let running = false, again = false;
/** Run the method; of several requests meanwhile only the last one follows. */
async function protect() {
  if (running) { again = true; return; }
  running = true;
  do {
    again = false;
    $("result").setAttribute("aria-busy", "true");
    const found = await askAndTell("working", "Working", "protect", {
      method: $("method").value, k: KS[$("k").value], l: $("l").disabled ? 1 : Number($("l").value) });
    $("result").removeAttribute("aria-busy");
    if (again) continue;
    $("result").hidden = $("s-save").hidden = !found;
    if (found) showResult(table.result = found);
  } while (again);
  running = false;
}

function showResult(found) {
  const now = table.now;
  const sure = found.sure === null ? [" of the detail."]
    : [" of the detail. The surest guess at a secret is right with ", percent(found.sure), ` (before: ${percent(now.sure)}).`];
  withBold($("finding"), "Now ", people(found.alone), ` ${found.alone === 1 ? "is" : "are"} unique (before: ${count(now.alone)}), and everybody looks like at least `,
    `${count(found.smallest - 1)} other${found.smallest === 2 ? "" : "s"}`, ". This costs ", percent(found.loss), ...sure);
  $("promises").replaceChildren(...found.promises.map(([text, holds]) => make("li", { class: holds ? "yes" : "no" },
    make("b", {}, holds ? "✓ kept: " : "✗ not kept: "), text)),
    make("li", { class: "muted" }, `${count(found.withheld)} of ${count(found.rows)} rows are not published; ${found.seconds.toFixed(1)} s.`));
  $("rows").tHead.replaceChildren(make("tr", {}, ...found.names.map(name => make("th", { scope: "col" }, name))));
  $("rows").tBodies[0].replaceChildren(...found.first.map(row => make("tr", {}, ...row.map(text => make("td", { title: text }, text)))));
  $("call").textContent = found.call;
  tell("saved", "");
  $("warnings").replaceChildren(...found.warnings.length
    ? [make("p", {}, make("b", {}, "Before you share it, know this:")), make("ul", {}, ...found.warnings.map(text => make("li", {}, text)))] : []);
}

$("save").onclick = async () => {
  const made = await askAndTell("saved", "Writing", "write", { path: "/safe.csv" });
  if (!made) return;
  const address = URL.createObjectURL(new Blob([made.content], { type: "text/csv" }));
  make("a", { href: address, download: "safe.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  tell("saved", "Saved as safe.csv, with the promises checked again on the rows. Read the notes below before you share it.", "good");
};

$("k").value = 2;
if (location.protocol === "file:") $("load").click();
