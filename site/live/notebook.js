// A notebook as a page: cells are edited in place and run by Python, one after the other.
"use strict";

const cells = [...document.querySelectorAll(".code")];

/** Show what a cell printed and made. */
function show(place, outputs) {
  place.replaceChildren(...outputs.map(({ kind, content, alt }) => {
    if (kind === "png") return make("img", { src: `data:image/png;base64,${content}`, alt });
    if (kind !== "html") return make("pre", { class: kind, tabindex: 0 }, content);
    const one = make("div", { class: "scroll", tabindex: 0 });
    one.innerHTML = content.replace(/ oninput="[^"]*"/g, "");  // the policy lets no code of outputs run
    for (const input of one.querySelectorAll(".slider input")) input.oninput = () => {
      const all = [...input.closest(".slider").querySelectorAll("img")];
      all.forEach((picture, i) => { picture.hidden = i !== Number(input.value); });
      input.nextElementSibling.value = all[input.value].alt.split(". ")[0];
    };
    return one;
  }));
}

/** Run a cell; return whether running goes on after it. */
async function run(cell) {
  cell.setAttribute("aria-busy", true);
  $("stop").hidden = false;
  const outputs = await ask("run", { source: cell.innerText }).catch(error => [{ kind: "error", content: error.message }]);
  cell.removeAttribute("aria-busy");
  $("stop").hidden = true;
  show(cell.nextElementSibling, outputs);
  return "goesOn" in cell.dataset || !outputs.some(one => one.kind === "error");
}

$("all").onclick = async () => {
  $("all").disabled = true;
  let done = 0;
  for (const cell of cells) {
    $("loaded").textContent = `Running cell ${done + 1} of ${cells.length}`;
    if (!await run(cell)) break;
    done++;
  }
  $("loaded").textContent = done < cells.length ? `Cell ${done + 1} of ${cells.length} stopped with an error.`
    : `All ${done} cells were run. Change one, and press Shift and Enter to run it again.`;
  $("all").disabled = false;
};

$("load").onclick = async () => {
  if (!await load()) return;
  $("all").hidden = false;
  for (const cell of cells) cell.contentEditable = "plaintext-only";
  $("all").click();
};

$("stop").onclick = () => {
  worker.terminate();
  for (const call of waiting.values()) call.reject(new Error("Stopped. Python has forgotten everything: run all cells again."));
  waiting.clear();
  queue = start();
};

for (const cell of cells) {
  show(cell.nextElementSibling, JSON.parse(cell.nextElementSibling.dataset.outputs));
  cell.onkeydown = event => {
    if (event.key !== "Enter" || !event.shiftKey || !cell.isContentEditable) return;
    event.preventDefault();
    run(cell);
    cells[cells.indexOf(cell) + 1]?.focus();
  };
}
