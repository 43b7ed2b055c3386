// Watch an algorithm decide on a few people. All steps were computed by the package.
"use strict";

const scene = JSON.parse($("scene").textContent);
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const state = { step: 0, person: null, parameters: {} };
const guessed = new Set();  // states whose best guess the reader has predicted or asked to see
let edited = null, cells = null, touched = false, wanted = false, tickets = 0, asking = false, guess = "", timer = null;

// ---- what is shown ----------------------------------------------------------------------------

const key = (given = state.parameters) => Object.entries(given).map(pair => pair.join("=")).join("&");
const run = () => edited ?? scene.runs[key()];
const people = () => run().people;
const here = () => people().slice(0, step()?.rows);  // synthetic rows come later
const last = () => (run().steps?.length ?? 1) - 1;
const step = (at = state.step) => run().steps?.[at];
const tableOf = one => typeof one.cells === "number" ? scene.tables[one.cells] : one.cells;
/** The people whom a step moves. */
const moved = at => at < 1 || !step(at) ? [] : step(at).group.flatMap((one, i) => one === step(at - 1).group[i] ? [] : [i]);
const place = () => `${key()}&${state.step}&${state.person}`;
const note = text => { $("loaded").textContent = text; };
const groupName = number => run().names[number] ?? "";
const sum = counts => counts.reduce((total, count) => total + count, 0);
const percent = share => `${Math.round(100 * share)} %`;
const WORDS = new RegExp(`(?<!\\w)(${scene.words.pattern})(?!\\w)`);

/** A text in which each word that the page explains is, once, a button that opens its explanation. */
function explained(text, seen = new Set()) {
  return text.split(WORDS).map((part, i) => {
    const id = i % 2 ? scene.words.ids[part] ?? scene.words.ids[part.slice(0, -1)] : null;
    if (!id || seen.has(id)) return part;
    seen.add(id);
    return make("button", { type: "button", class: "word", popovertarget: id }, part);
  });
}

function draw() {
  asking = false;
  if (!people()[state.person]) state.person = null;  // a synthetic row that is gone
  if (step(0)) state.step = Math.min(state.step, last());  // a refusal keeps the step
  const held = document.activeElement.closest("#people [data-person]"), one = step(), places = new Map([...document.querySelectorAll(".chip")].map(chip => [chip.dataset.person, chip.getBoundingClientRect()]));
  [$("scrub").max, $("scrub").value] = [last(), state.step];
  $("scrub").setAttribute("aria-valuetext", `step ${state.step + 1} of ${last() + 1}`);
  [$("back").disabled, $("forward").disabled] = [!one || state.step === 0, !one || state.step === last()];
  $("say").classList.toggle("bad", !one);
  $("say").replaceChildren(...explained(one ? `${state.step + 1} of ${last() + 1}: ${one.say}` : `Not possible: ${run().error}. ${works()}`));
  drawLines(run().lines ?? scene.lines);
  [...$("lines").children].forEach((line, i) => {
    line.classList.toggle("now", one?.line === i + 1);
    line.toggleAttribute("aria-current", one?.line === i + 1);
  });
  $("formula").replaceChildren(...explained(one?.formula ?? ""));
  drawPeople(one);
  drawGroups(one);
  drawBeliefs();
  for (const chip of calm ? [] : document.querySelectorAll(".chip")) glide(chip, places.get(chip.dataset.person));
  if (held) document.querySelector(held.matches(".chip") ? `.chip[data-person="${held.dataset.person}"]` : `tr[data-person="${held.dataset.person}"] :is(button, select, input)`)?.focus({ preventScroll: true });  // the elements are new
  mark();
  history.replaceState(null, "", `${location.search}#${key()}&step=${state.step + 1}&person=${state.person === null ? "" : encodeURIComponent(people()[state.person][0])}`);
}

function drawLines(lines) {
  if ($("lines").textContent === lines.map((text, i) => i + 1 + text).join("")) return;  // a word may have the focus
  const seen = new Set();
  $("lines").replaceChildren(...lines.map((text, i) => make("li", {}, make("button", { type: "button", "aria-label": `Go to line ${i + 1}` }, String(i + 1)), make("span", {}, ...explained(text, seen)))));
}

/** What would work instead of what was refused: other values of one parameter. */
function works() {
  const found = edited ? [] : Object.entries(scene.parameters).flatMap(([name, values]) => values.filter(value => scene.runs[key({ ...state.parameters, [name]: value })].steps).map(value => `${name} = ${value}`));
  return found.length ? `Possible: ${found.join(", or ")}.` : "Edit the table, or change the parameters.";
}

/** Let a person glide from where it was. */
function glide(chip, before) {
  const now = chip.getBoundingClientRect();
  if (!before || (before.left === now.left && before.top === now.top)) return;
  chip.animate([{ transform: `translate(${before.left - now.left}px, ${before.top - now.top}px)` }, { transform: "none" }], { duration: 400, easing: "ease-in-out" });
}

function drawPeople(one) {
  const ends = state.step === last(), published = one && (!one.supposed || ends || (state.person !== null && $("veil").checked)) && tableOf(one), fields = cells && (!edited || !one || state.step === 0), movers = moved(state.step);
  const rows = here().map(([name, ...values], i) => {
    const texts = published?.[i] ?? values;
    const row = make("tr", { "data-person": i }, make("th", { scope: "row" }, dot(i), make("button", { type: "button", "aria-pressed": state.person === i }, name), ...one?.note[i] ? [make("small", {}, one.note[i])] : []));
    texts.forEach((text, j) => row.append(fields && cells[i] ? make("td", {}, field(i, j)) : make("td", String(text) === values[j] ? {} : { class: "changed" }, String(text))));
    row.append(make("td", { class: "note" }, one ? groupName(one.group[i]) : ""));
    row.classList.toggle("moved", movers.includes(i));
    row.classList.toggle("chosen", state.person === i);
    return row;
  });
  const [head, body] = document.querySelector("#people table").children;
  head.replaceChildren(make("tr", {}, ...["person", ...scene.columns, "group"].map(text => make("th", { scope: "col" }, text))));
  body.replaceChildren(...rows);
  hint();
  mark();
}

const hint = (box = document.querySelector("#people .scroll")) => box.classList.toggle("moves", box.scrollWidth > box.clientWidth + 1);
addEventListener("resize", () => hint());

/** A field of the edited table: a number, or one of the values that the column has. */
function field(i, j) {
  const column = scene.columns[j], domain = scene.domains[column];
  const found = domain ? make("select", {}, ...domain.map(text => make("option", {}, text))) : make("input", { type: "number" });
  found.setAttribute("aria-label", `${column} of ${people()[i][0]}`);
  found.value = cells[i][j];
  found.onchange = () => {
    [cells[i][j], touched, tickets] = [found.value, true, tickets + 1];  // a run that has not ended is of other values
    note("Edited: press Run. The steps are still those of the table before.");
  };
  return found;
}

function dot(i) {
  const found = make("span", { class: "dot", "aria-hidden": "true" });
  found.style.background = `hsl(${(i * 137) % 360} 60% 50%)`;
  return found;
}

function drawGroups(one) {
  const numbers = one ? [...new Set(one.group)].sort((a, b) => a - b) : [];
  $("groups").replaceChildren(...numbers.map(number => {
    const chips = one.group.flatMap((group, i) => group === number && i < here().length ? [make("button", { type: "button", class: "chip", "data-person": i }, dot(i), people()[i][0])] : []);
    return make("div", { class: number < 0 ? "group none" : "group" }, make("b", {}, number < 0 ? "no group" : groupName(number)), ...chips);
  }));
}

function drawBeliefs() {
  const told = run(), one = step(), person = state.person;
  $("diverse").hidden = true;
  $("beliefs").replaceChildren();
  $("attacked").textContent = "Choose a person: what can somebody who knows this person conclude?";
  if (!one || person === null) return;
  const at = (one.class ?? one.group)[person], name = people()[person][0], secret = scene.columns.at(-1), ends = state.step === last();
  const counts = one.held[at], bars = [["before", told.before]];
  if (!counts) $("attacked").textContent = ends ? `${name} is not published.` : `${name} is in no group yet. The whole table gives a first guess:`;
  else {
    const n = sum(counts), most = Math.max(...counts), value = told.values[counts.indexOf(most)];
    const could = [...new Set([Math.max(...told.before) / sum(told.before), 1 / n, most / n, 1].map(percent))].sort((a, b) => parseInt(a) - parseInt(b));
    const known = scene.paper === "boger2020" && !told.lines ? `the group of ${name}` : `${scene.columns.slice(0, -1).join(", ")} of ${name}`;
    if (!guessed.has(place()) && $("ask").checked) {
      $("attacked").textContent = `${ends && !one.supposed ? "This is published" : `Suppose the groups were published now, ${told.how}`}. Somebody knows ${known}. With which probability is the best guess of the ${secret} right? Count the marked rows.`;
      return $("beliefs").replaceChildren(...could.map(text => make("button", { type: "button", "data-guess": text === percent(most / n) ? "Right. " : `Not ${text}. ` }, text)));
    }
    const sure = most === n ? n > 1 ? ` This is certain, although ${n} rows fit: k-anonymity counts people and ignores what they have in common.` : " A row that is the only one of its kind hides nothing." : "";
    const found = n > 1 ? `${most} of the ${n} rows that fit ${name} ${most > 1 ? "have" : "has"} ${value}` : `One row fits ${name}, and it has ${value}`;
    $("attacked").replaceChildren(...explained(`${guess}${found}: the best guess is right with probability ${percent(most / n)}.${sure}`));
    bars.push(["after", counts]);
    if (told.steps[state.step].real) bars.push(["by who recognizes synthetic rows", one.real[at]]);
    drawLevels(counts.filter(Boolean).sort((a, b) => b - a), n);
  }
  $("beliefs").replaceChildren(make("p", { class: "keys" }, "Before: shares among all people. After: among the rows that fit."), ...told.values.map((value, i) => make("div", { class: "belief" }, make("b", {}, value), ...bars.map(([when, counts]) => {
    const bar = make("span", { class: `bar ${when.slice(0, 2)}` }), share = counts[i] / Math.max(sum(counts), 1);
    bar.style.width = `${50 * share}%`;
    return make("div", {}, bar, ` ${percent(share)} ${when}`);
  }))));
}

/** How diverse a group with these counts is, as lesson 3 computes it; the levels are the package's. */
function drawLevels(counts, n) {
  const [frequency, distinct, entropy, second, third] = (edited ?? scene).levels[counts.join(",")], [most, ...others] = counts;
  const share = counts.map(count => `${count}/${n} · ln(${count}/${n})`).join(" + ");
  const told = [`frequency l-diversity: ${n} / ${most} = ${frequency}. No guess is right with a higher probability than ${most}/${n}.`,
    `distinct l-diversity: ${distinct} different value${distinct > 1 ? "s" : ""}.`,
    `entropy l-diversity: H = −(${share}), where 0 ln 0 counts as 0. The class is as uncertain as e^H = ${entropy} equally frequent values.`,
    second === null ? "recursive diversity, l = 2: the class fails for every c, because it has one value only."
      : `recursive diversity, l = 2: the most frequent value has ${most}, all the others ${others.join(" + ")}${others.length > 1 ? ` = ${n - most}` : ""}. The class passes for every c above ${most}/${n - most} = ${second} (small is good). l = 3 leaves out the second most frequent as well: ${third === null ? "nobody is left, so the class fails for every c" : `${most}/${n - most - others[0]} = ${third}`}.`];
  $("levels").replaceChildren(...told.map(text => make("li", {}, ...explained(text))));
  $("diverse").hidden = false;
}

/** Mark everybody whom an attacker cannot tell from the chosen person, or from the one pointed at. */
function mark(pointed = null) {
  const one = step(), person = pointed ?? state.person, of = pointed === null ? one?.class ?? one?.group : one?.group;
  for (const row of document.querySelectorAll("[data-person]")) {
    const i = Number(row.dataset.person);
    row.classList.toggle("fits", person !== null && of !== undefined && of[i] === of[person] && of[i] >= 0);
  }
}

// ---- what a reader does -----------------------------------------------------------------------

function go(to, byReader = true) {
  const forward = to === state.step + 1, next = forward && to <= last() ? moved(to) : [];
  if (byReader && forward && $("ask").checked && !asking && next.length === 1) {
    asking = true;
    $("say").textContent = "Who moves next? Choose a person, or step forward to see.";
    return;
  }
  if (step(0)) state.step = Math.max(0, Math.min(to, last()));
  draw();
}

function choose(person) {
  if (asking) {
    const name = i => people()[i][0], [mover] = moved(state.step + 1), right = (step(state.step + 1).may ?? []).includes(person);
    go(state.step + 1, false);
    $("say").textContent = `${person === mover ? "Right." : right ? `Right: ${name(person)} could move as well. The program takes ${name(mover)} here.`
      : `Not ${name(person)}. The program takes ${name(mover)} here.`} ${$("say").textContent}`;
    return;
  }
  state.person = person;
  draw();
}

function play(on = timer === null) {
  clearInterval(timer);
  timer = on ? setInterval(() => state.step < last() ? go(state.step + 1, false) : play(false), 1400) : null;
  $("play").textContent = on ? "Pause" : "Play";
  if (on && state.step === last()) go(0, false);
}

$("back").onclick = () => go(state.step - 1);
$("forward").onclick = () => go(state.step + 1);
$("play").onclick = () => play();
$("scrub").oninput = () => go(Number($("scrub").value), false);
$("beliefs").addEventListener("click", event => {
  if (!event.target.dataset.guess) return;
  guessed.add(place());
  guess = event.target.dataset.guess;
  drawBeliefs();
  [guess, $("attacked").tabIndex] = ["", -1];
  $("attacked").focus();  // the buttons are gone
});
$("ask").onchange = $("veil").onchange = () => draw();
$("people").addEventListener("click", event => {
  const of = event.target.closest("[data-person]");
  if (of && event.target.closest("button")) choose(Number(of.dataset.person));
});
for (const [kind, read] of [["pointerover", of => Number(of.dataset.person)], ["pointerout", () => null], ["focusin", of => Number(of.dataset.person)]])
  $("people").addEventListener(kind, event => {
    const of = event.target.closest("[data-person]");
    if (of && step()) mark(read(of));
  });
$("lines").addEventListener("click", event => {
  if (event.target.closest(".word")) return;
  const line = [...$("lines").children].indexOf(event.target.closest("li")) + 1;
  const at = run().steps?.findIndex(one => one.line === line) ?? -1;
  if (at >= 0) go(at, false);
});
document.addEventListener("keydown", event => {
  if (event.target.matches("input:not([type=checkbox]), select, .scroll") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector(":popover-open")) return;
  const to = { ArrowLeft: state.step - 1, ArrowRight: state.step + 1, Home: 0, End: last() }[event.key];
  if (to !== undefined) go(to);
  else if (event.key === " " && !event.target.closest("button, input")) play();
  else return;
  event.preventDefault();
});

// ---- parameters and the address ---------------------------------------------------------------

for (const [name, given] of Object.entries(scene.parameters)) {
  const numbers = given.every(value => typeof value === "number"), values = numbers ? [...given].sort((a, b) => a - b) : given;
  const field = numbers ? make("input", { type: "range", min: 0, max: values.length - 1, id: `p-${name}` })
    : make("select", { id: `p-${name}` }, ...values.map(value => make("option", {}, value)));
  const output = make("output", { for: `p-${name}` });
  field.oninput = () => { change(name, numbers ? values[field.value] : field.value); show(); };
  const show = () => {
    field.value = numbers ? values.indexOf(state.parameters[name]) : state.parameters[name];
    output.textContent = numbers ? ` = ${state.parameters[name]}` : "";
    if (numbers) field.setAttribute("aria-valuetext", state.parameters[name]);
  };
  field.show = show;
  const word = scene.words.ids[name] ? [make("button", { type: "button", class: "word what", popovertarget: scene.words.ids[name], "aria-label": `What is ${name}?` }, "?")] : [];
  $("parameters").append(make("div", {}, make("label", { for: `p-${name}` }, name, output), field, ...word));
}

/** Set a parameter. An edited table is run again, unless another table was chosen. */
function change(name, value) {
  const again = wanted && name !== "table", ends = step(0) && state.step === last(), person = people()[state.person]?.[0];
  state.parameters[name] = value;
  stopRun(again || !touched ? "" : name === "table" ? "Your edits are undone: another table was chosen." : "Edited: press Run.");
  if (cells && name === "table") setEdit(true);
  if (again) runEdited(ends);
  if (ends && step(0)) state.step = last();
  const at = people().findIndex(([of]) => of === person);  // tables have other people
  if (at >= 0) state.person = at;
  draw();
}

function readAddress() {
  stopRun("");
  setEdit(false);
  const told = new URLSearchParams(location.hash.slice(1));
  const all = Object.entries(scene.runs).map(([text, of]) => [new URLSearchParams(text), of]);
  const fits = all.filter(([given]) => [...given].every(([name, value]) => !scene.parameters[name].some(one => String(one) === told.get(name)) || told.get(name) === value));
  const [given] = fits.find(([, of]) => of.steps && (!told.get("person") || of.people.some(([name]) => name === told.get("person")))) ?? fits[0];  // what is not said is chosen so that it is possible
  for (const [name, values] of Object.entries(scene.parameters)) state.parameters[name] = values.find(value => String(value) === given.get(name));
  state.step = Math.min(Math.max(0, (Number(told.get("step")) || 1) - 1), step(0) ? last() : Infinity);
  const person = people().findIndex(([name]) => name === told.get("person"));
  state.person = person >= 0 ? person : told.has("person") ? null : 1;
  if (told.has("person")) guessed.add(place());  // a link shows what it is about
  for (const field of $("parameters").querySelectorAll("input, select")) field.show();
  draw();
}

// ---- an edited table, which the package itself runs in the browser ----------------------------

const stopRun = text => { [tickets, edited] = [tickets + 1, null]; note(text); };  // also one that has not ended

/** Fill the fields with the table on screen, or take them away. */
function setEdit(on) {
  cells = on ? people().slice(0, step(0)?.rows).map(([, ...values]) => values) : null;
  [touched, wanted, $("load").hidden] = [false, false, !on];
  $("change").textContent = on ? "Back to the unedited table" : "Edit the table";
}

async function runEdited(ends = false) {
  const given = JSON.stringify(JSON.stringify([scene.paper, cells, state.parameters])), ticket = ++tickets;
  [wanted, $("loaded").textContent] = [true, "Running the package"];
  const outputs = await ask("run", { source: `import sys; sys.path.append("/project/site/theatre")\nimport json, anonpaper.compendium, scenes\nprint(scenes.edited(*json.loads(${given})))` });
  if (ticket !== tickets) return;  // the reader has changed something since
  const text = outputs.filter(one => one.kind === "text").map(one => one.content).join("");
  try {
    edited = JSON.parse(text.slice(text.indexOf("{")));
    note("These steps are those of the edited table. Go to step 1 to edit it again.");
  } catch {
    note(`The package could not run: ${outputs.map(one => one.content).join(" ").slice(-300)}`);
  }
  if (ends && step(0)) state.step = last();
  draw();
}

$("edit").hidden = ASSETS.length === 0;
$("change").onclick = () => { stopRun(""); setEdit(!cells); state.step = 0; draw(); };
$("load").onclick = async () => {
  if (!worker && !await load()) return;
  [$("load").hidden, $("load").disabled, state.step] = [!cells, false, 0];
  if (cells) runEdited();
};

document.body.classList.toggle("embed", new URLSearchParams(location.search).has("embed"));
window.addEventListener("hashchange", readAddress);
readAddress();
