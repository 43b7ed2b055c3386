// Python in a worker: it gets its files from the page, and no connection.
"use strict";

let python;

async function start(assets) {
  // Pyodide asks for files by address: they are here
  self.fetch = async address => {
    const name = String(address.url || address).split("/").pop();
    if (!(name in assets)) throw new Error("no file " + name);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(assets[name], { headers: { "Content-Type": type } });
  };
  python = await loadPyodide({ indexURL: "http://files.invalid/", fullStdLib: false });
  for (const [name, content] of Object.entries(assets))
    if (name.startsWith("scipy")) await python.loadPackage("scipy", { messageCallback() {} });
    else if (name.endsWith(".whl")) python.unpackArchive(await content.arrayBuffer(), "wheel");
    else if (name.endsWith(".tree.zip")) python.unpackArchive(await content.arrayBuffer(), "zip", { extractDir: "/project" });
  python.FS.writeFile("/glue.py", new Uint8Array(await assets["glue.py"].arrayBuffer()));
  python.runPython("import importlib, sys; importlib.invalidate_caches(); import tqdm; sys.path.insert(0, '/'); import glue\n" +
                   "tqdm.tqdm.monitor_interval = 0");  // there are no threads
}

self.onmessage = async ({ data }) => {
  const { number, name, args, file, assets } = data;
  try {
    if (assets) {
      await start(assets);
      return self.postMessage({ number, answer: true });
    }
    if (file) python.FS.writeFile(args.path, new Uint8Array(await file.arrayBuffer()));
    const glue = python.globals.get("sys").modules.get("glue");
    const told = JSON.parse(glue.call(name, JSON.stringify(args)));
    if (told.answer?.path) told.answer.content = python.FS.readFile(args.path);
    self.postMessage({ number, ...told });
  } catch (error) {
    self.postMessage({ number, fatal: String(error.message || error).trim().slice(-1500) });
  }
};
