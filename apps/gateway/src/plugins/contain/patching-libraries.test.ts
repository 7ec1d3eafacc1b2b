// What becomes of plugins whose libraries patch Node's modules and mean no harm.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { clew } from "../../testing/command.ts";
import { startPluginProcess } from "../../testing/plugin-process.ts";
import { engineCode } from "../../testing/plugins.ts";

/**
 * In the manner of libraries that wait for free descriptors: a queue that all copies share, kept
 * under a symbol; closing, for everybody, looks whether somebody waits; the rest in a copy of `fs`.
 */
const PATIENT_FS = `
const real = node("fs");
const QUEUE = Symbol.for("stand-in.queue");
const queue = (globalThis[QUEUE] ??= []);
if (!real[QUEUE]) {
  Object.defineProperty(real, QUEUE, { get: () => queue });
  const { close, closeSync } = real;
  real.close = function (fd, done) {
    return close.call(real, fd, (error) => { queue.shift()?.(); done?.(error); });
  };
  Object.defineProperty(real.close, Symbol.for("stand-in.previous"), { value: close });
  real.closeSync = function (fd) { closeSync.apply(real, arguments); queue.shift()?.(); };
}
const { cwd } = process;
process.cwd = () => cwd.call(process);
const patient = Object.create(Object.getPrototypeOf(real), Object.getOwnPropertyDescriptors(real));
patient.readFile = (path, options, done) => real.readFile(path, options, (error, text) => {
  if (error?.code === "EMFILE") queue.push(() => patient.readFile(path, options, done));
  else done(error, text);
});
`;

/** In the manner of libraries that trace: clients and servers are counted, whoever uses them. */
const TRACER = `
const http = node("http");
const spans = [];
for (const name of ["request", "get"]) {
  const original = http[name];
  http[name] = function (...given) { spans.push(name); return Reflect.apply(original, this, given); };
}
const { emit } = http.Server.prototype;
http.Server.prototype.emit = function (event, ...given) {
  if (event === "request") spans.push("served");
  return Reflect.apply(emit, this, [event, ...given]);
};
node("module").syncBuiltinESMExports();
`;

const NODE = "const node = (name) => process.getBuiltinModule('node:' + name);";

const tool = (execute: string) => `
  api.registerCommand({ name: "work", description: "Works.", acceptsArgs: true, handler: async ({ args }) => ({ text: await (${execute})(args) }) });`;

async function startWith(library: string, work: string) {
  const code = engineCode("small").replace("register(api) {", `register(api) {${tool(work)}`);
  const started = await startPluginProcess(`${NODE}${library}${code}`);
  const ask = async (text: string) => JSON.stringify(await started.say(text));
  const notices = () =>
    started
      .log()
      .split("\n")
      .filter((line) => line.includes("what all code here shares"));
  return { ...started, ask, notices };
}

describe("a plugin whose library patches Node", () => {
  it.each([
    ["files", PATIENT_FS, ["fs.close", "fs.closeSync"]],
    ["requests", TRACER, ["http.request", "http.get", "http.Server.prototype.emit"]],
  ])("for %s is loaded, does its work, and is told of once", async (what, library, told) => {
    const server = createServer((_, response) => response.end("what the server holds"));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const work =
      what === "files"
        ? "(path) => new Promise((done) => patient.readFile(path, 'utf8', (error, text) => done(error?.message ?? text)))"
        : "(url) => new Promise((done) => http.get(url, (response) => { response.setEncoding('utf8').on('data', (text) => done(text)); }))";
    const { home, ask, notices, record, stop } = await startWith(library, work);
    writeFileSync(join(home, "held.txt"), "what the file holds");
    const asked = what === "files" ? join(home, "held.txt") : url;
    for (let turn = 0; turn < 3; turn++) {
      expect(await ask(`/work ${asked}`)).toContain(
        what === "files" ? "what the file holds" : "what the server holds",
      );
      expect(await ask("hello")).toContain('"outcome":"completed"');
    }
    expect(await record()).toMatchObject({ status: "loaded", engines: ["small"], strays: null });
    expect(notices()).toHaveLength(1);
    for (const name of told) expect(notices()[0]).toContain(`${name} (`);
    expect(notices()[0]).not.toMatch(/until a restart|which stays/);
    const doctor = await clew(home, ["doctor"]);
    expect(doctor.output).not.toContain("FAILURE");
    expect(doctor.code).toBe(0);
    expect(await stop()).toBe(0);
  });
});
