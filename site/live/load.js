// What both pages share: elements, the files of the folder, and the worker with Python.
"use strict";

const ASSETS = JSON.parse(document.getElementById("assets").textContent);
const $ = id => document.getElementById(id);

/** Make an element: attributes, then children, which are elements or texts. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// ---- loading --------------------------------------------------------------------------------

const files = {};
window.asset = null;  // every script of the folder hands it its bytes, as text

const policy = window.trustedTypes
  ? window.trustedTypes.createPolicy("files", { createScriptURL: address => {
      if (address.startsWith("blob:") || ASSETS.some(one => one.at === address)) return address;
      throw new TypeError("not a file of this page");
    } })
  : { createScriptURL: address => address };

/** Load one script, which holds a file. */
function loadFile(one) {
  return new Promise((resolve, reject) => {
    window.asset = text => {
      const raw = atob(text), bytes = new Uint8Array(raw.length);
      for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
      files[one.name] = new Blob([bytes]);
    };
    const script = make("script");
    script.onload = () => { script.remove(); resolve(); };
    script.onerror = () => { script.remove(); reject(new Error(`the file ${one.at} could not be loaded`)); };
    script.src = policy.createScriptURL(one.at);
    document.head.append(script);
  });
}

/** Unpack a file that was packed for the page. */
async function unpack({ name }) {
  files[name] = await new Response(files[name].stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}

/** Load all files and start Python; the page shows how far it is. */
async function load() {
  $("load").disabled = true;
  $("loading").hidden = false;
  const total = ASSETS.reduce((sum, one) => sum + one.bytes, 0);
  let done = 0;
  try {
    for (const one of ASSETS) {
      $("loaded").textContent = `Loading: ${(done / 1e6).toFixed(0)} of ${(total / 1e6).toFixed(0)} MB`;
      await loadFile(one);
      if (one.packed) await unpack(one);
      $("bar").value = 0.8 * (done += one.bytes) / total;
    }
    // from here on nothing may load, not even files of this folder
    document.head.append(make("meta", { "http-equiv": "Content-Security-Policy", content: "default-src 'none'; script-src blob: 'wasm-unsafe-eval'; "
      + "worker-src blob:; img-src data:; style-src 'unsafe-inline'; connect-src 'none'; form-action 'none'" }));
    $("loaded").textContent = "Starting Python";
    await start();
    $("load").hidden = true;
    $("loading").hidden = true;
    return true;
  } catch (error) {
    $("load").disabled = false;
    $("loaded").textContent = `The tool could not be started: ${error.message}. Try again, or use a current browser.`;
    return false;
  }
}

// ---- the worker -----------------------------------------------------------------------------

let worker = null, number = 0, queue = Promise.resolve();
const waiting = new Map();

/** Start Python from the files that the page has. */
function start() {
  const parts = ["pyodide.asm.js", "pyodide.js", "worker.js"].flatMap(name => [files[name], "\n"]);
  const address = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
  worker = new Worker(policy.createScriptURL(address));
  worker.onmessage = ({ data }) => {
    const call = waiting.get(data.number);
    waiting.delete(data.number);
    if (!call) return;
    if (data.fatal) call.reject(Object.assign(new Error(data.fatal), { fatal: true }));
    else if (data.error !== undefined) call.reject(new Error(data.error));
    else call.resolve(data.answer);
  };
  worker.onerror = event => {
    for (const call of waiting.values()) call.reject(Object.assign(new Error(event.message || "the worker stopped"), { fatal: true }));
    waiting.clear();
  };
  return post({ assets: files });
}

function post(message) {
  return new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    worker.postMessage({ number, ...message });
  });
}

/** Ask Python; one call after the other. */
function ask(name, args = {}, file = null) {
  const next = queue.then(() => post({ name, args, file }));
  queue = next.catch(() => {});
  return next;
}
