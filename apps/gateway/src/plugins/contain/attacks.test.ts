// What becomes of a gateway whose plugin is meant to do it harm.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { startPluginProcess } from "../../testing/plugin-process.ts";
import { engineCode } from "../../testing/plugins.ts";
import { planAct, planListener } from "./plan-act.ts";

const NEVER = "thrown where nothing could catch it: ";
const REFUSED = " = … would replace it for the gateway; it was refused";
const UNHEARD = "rejected and nothing handled it: ";

/**
 * Code that runs while a view is made, and how it is told of. The seventeen plugins of the audit
 * are among these and those below; the one that loops is in watchdog.test.ts.
 */
const ATTACKS: Record<string, [code: string, told: string | null]> = {
  exit: ["process.exit(7);", "process.exit(7) would end the gateway; it was refused"],
  "exit-later": [
    "setTimeout(() => { process.exit(8); }, 5);",
    "process.exit(8) would end the gateway; it was refused",
  ],
  "exit-by-name": [
    "(await import('node:process')).exit(9);",
    "process.exit(9) would end the gateway; it was refused",
  ],
  "exit-kept": ["setImmediate(kept.exit, 10);", "process.exit(10) would end the gateway"],
  "really-exit": ["process.reallyExit(11);", "process.reallyExit(11) would end the gateway"],
  abort: ["process.abort();", "process.abort() would end the gateway"],
  kill: ["process.kill(process.pid, 'SIGKILL');", "would end the gateway; it was refused"],
  "kill-group": ["process.kill(0);", "process.kill(0) would end the gateway"],
  emit: ["process.emit('SIGTERM');", 'process.emit("SIGTERM") would end the gateway'],
  disconnect: ["process.disconnect();", "process.disconnect() would end the gateway"],
  "remove-all": [
    "process.removeAllListeners();",
    "process.removeAllListeners() would remove what the gateway listens with",
  ],
  "remove-one": [
    "for (const each of process.listeners('SIGTERM')) process.off('SIGTERM', each);",
    'process.off("SIGTERM") would remove what the gateway listens with',
  ],
  "take-over": [
    "process.on('uncaughtException', () => { throw new Error('mine'); });",
    'process.on("uncaughtException") would answer errors in the gateway\'s place',
  ],
  capture: [
    "process.setUncaughtExceptionCaptureCallback(() => {});",
    "would keep errors from the gateway; it was refused",
  ],
  replace: ["process.exit = () => {};", "process.exit = … would replace it for the gateway"],
  define: [
    'setTimeout(() => Object.defineProperty(process, "exit", { value() {} }));',
    `${NEVER}Cannot redefine property: exit`,
  ],
  handles: [
    "for (const each of process._getActiveHandles()) { each.close?.(); each.unref?.(); }",
    "would give it what the gateway holds open",
  ],
  signal: [
    "process.once('SIGUSR2', () => process.exit(12)); process.emit('other'); setTimeout(() => process.kill(process.ppid, 0));",
    null,
  ],
  timer: ["setTimeout(() => { throw new Error('in a timer'); });", `${NEVER}in a timer`],
  rejection: ["void Promise.reject(new Error('unheard of'));", `${UNHEARD}unheard of`],
  "rejected-text": ["void Promise.reject('only a text');", `${UNHEARD}only a text`],
  undefined: ["void Promise.reject(undefined);", `${UNHEARD}undefined`],
  text: ["setTimeout(() => { throw 'a text'; });", `${NEVER}a text`],
  proxy: [
    "const trap = () => { throw 1; }; void Promise.reject(new Proxy(class {}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap }));",
    `${UNHEARD}an error that cannot be described`,
  ],
  "thrown-proxy": [
    "const trap = () => { throw 1; }; setTimeout(() => { throw new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap }); });",
    `${NEVER}an error that cannot be described`,
  ],
  revoked: [
    "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); void Promise.reject(proxy);",
    `${UNHEARD}an error that cannot be described`,
  ],
  bare: [
    "void Promise.reject(Object.create(null));",
    `${UNHEARD}an error that cannot be described`,
  ],
  getters: [
    "const error = new Error('x'); for (const name of ['message', 'stack', 'name', 'cause', 'code']) Object.defineProperty(error, name, { get() { throw error; } }); setTimeout(() => { throw error; });",
    `${NEVER}an error that cannot be described`,
  ],
  species: [
    "setTimeout(() => Object.defineProperty(Promise, Symbol.species, { value: class {} }));",
    `${NEVER}Cannot redefine property`,
  ],
  "stack-traces": [
    "Error.prepareStackTrace = () => { throw new Error('pst'); }; Error.stackTraceLimit = 0; setTimeout(() => { throw new Error('without a trace'); });",
    "Error.prepareStackTrace (put back)",
  ],
  "stack-traces-later": [
    "setTimeout(() => { Error.prepareStackTrace = () => { throw new Error('pst'); }; throw new Error('later'); });",
    `${NEVER}later`,
  ],
  "stack-traces-for-good": [
    "setTimeout(() => { Object.defineProperty(Error, 'prepareStackTrace', { get() { throw new Error('pst'); }, configurable: true }); throw new Error('at last'); });",
    `${NEVER}at last`,
  ],
  "json-later": [
    "setTimeout(() => { JSON.stringify = () => { throw new Error('taken'); }; throw new Error('unwritten'); });",
    `${NEVER}unwritten`,
  ],
  emitter: [
    "const { EventEmitter } = await import('node:events'); setTimeout(() => new EventEmitter().emit('error', new Error('unheard')));",
    `${NEVER}unheard`,
  ],
  "disconnect-event": [
    'process.emit("disconnect");',
    'process.emit("disconnect") would end the gateway; it was refused',
  ],
  "forged-error": [
    'process.emit("uncaughtException", new Error("forged"));',
    'process.emit("uncaughtException", …) would tell of an error that there is not',
  ],
  "call-listeners": [
    'for (const each of process.rawListeners("SIGTERM")) each.call(process, "SIGTERM", 15);',
    'process.listeners("SIGTERM")[…]() would call what the gateway listens with',
  ],
  "call-kept-listeners": [
    'for (const each of [process._events.SIGTERM].flat()) each.call(process, "SIGTERM", 15);',
    'process.listeners("SIGTERM")[…]() would call what the gateway listens with',
  ],
  "listeners-gone": [
    'process._events = Object.create(null); setTimeout(() => { throw new Error("heard"); }, 5);',
    `${NEVER}heard`,
  ],
  "listeners-replaced": [
    "process._events = {};",
    "process._events = … would replace it for the gateway; it was refused",
  ],
  "emit-by-ancestor": [
    'const { EventEmitter } = await import("node:events"); EventEmitter.prototype.emit.call(process, "SIGTERM");',
    'process.emit("SIGTERM") would end the gateway; it was refused',
  ],
  "remove-by-ancestor": [
    'const { EventEmitter } = await import("node:events"); EventEmitter.prototype.removeAllListeners.call(process, "SIGTERM");',
    'process.removeAllListeners("SIGTERM") would remove what the gateway listens with',
  ],
  "another-program": [
    'process.execve?.("/bin/true", ["true"], {}); if (!process.execve) process.exit(1);',
    "the gateway",
  ],
  "other-rights": [
    "process.seteuid(65534);",
    "process.seteuid(65534) would take the gateway's rights from it; it was refused",
  ],
  "error-by-name": [
    "setTimeout(() => { globalThis.globalThis = {}; throw new Error('nameless'); });",
    `${NEVER}nameless`,
  ],
  "hook-init": [
    'track({ init() { throw new Error("in init"); } }); await new Promise((go) => setTimeout(go, 5));',
    `${NEVER}in init`,
  ],
  "hook-before": [
    'track({ before() { throw new Error("in before"); } }); setTimeout(() => {}, 5);',
    `${NEVER}in before`,
  ],
  "hook-destroy": [
    'track({ destroy() { throw new Error("in destroy"); } }); setTimeout(() => {}, 5);',
    `${NEVER}in destroy`,
  ],
  "hook-promise": [
    'track({ promiseResolve() { throw new Error("in resolve"); } });',
    `${NEVER}in resolve`,
  ],
  channel: [
    'const { subscribe, unsubscribe } = process.getBuiltinModule("node:diagnostics_channel"); const once = () => { unsubscribe("http.server.request.start", once); throw new Error("in a channel"); }; subscribe("http.server.request.start", once);',
    `${NEVER}in a channel`,
  ],
  registry: [
    'setImmediate(() => { globalThis.kept ??= new FinalizationRegistry(() => { throw new Error("as it was collected"); }); for (let at = 0; at < 20_000; at++) globalThis.kept.register({}, at); });',
    `${NEVER}as it was collected`,
  ],
  "registry-rejects": [
    'setImmediate(() => { globalThis.other ??= new FinalizationRegistry.prototype.constructor(() => { void Promise.reject("a text, as it was collected"); }); for (let at = 0; at < 20_000; at++) globalThis.other.register({}, at); });',
    `${UNHEARD}a text, as it was collected`,
  ],
  observer: [
    'new PerformanceObserver((_, self) => { self.disconnect(); throw "as it was observed"; }).observe({ entryTypes: ["mark"] }); performance.mark("now");',
    `${NEVER}as it was observed`,
  ],
  many: ["for (let at = 0; at < 10_000; at++) void Promise.reject(at);", "(10000 so far)"],
};

describe("a plugin that attacks the process", () => {
  it("ends neither the gateway nor anybody's turn, and each attack is told under its name", async () => {
    const cases = Object.entries(ATTACKS).map(
      ([name, [code]]) => `case "${name}": { ${code} break; }`,
    );
    const assemble = `assemble: async ({ messages, sessionKey }) => {
      switch (sessionKey.split(":").at(-1)) { ${cases.join("\n")} }
      return { messages, estimatedTokens: 0 };
    },`;
    const { home, child, say, get, log, record, stop } = await startPluginProcess(
      `const kept = { exit: process.exit };
      const track = (hooks) => process.getBuiltinModule("node:async_hooks").createHook(hooks).enable();
      ${engineCode("small", assemble)}`,
      { entry: { failurePolicy: "retry-next-turn" } },
    );
    const lines = (told: string) =>
      log()
        .replaceAll('\\"', '"')
        .split("\n")
        .filter((line) => line.includes("[plugins] small: ") && line.includes(told));
    for (const [name, [, told]] of Object.entries(ATTACKS)) {
      // A connection that idled through a flood of errors is closed by then: clients send again.
      const events = await say("hello", name).catch(() => say("hello", name));
      expect(events.at(-1), name).toMatchObject({ outcome: "completed" });
      if (told !== null)
        await expect.poll(() => lines(told), { message: name, timeout: 120_000 }).not.toEqual([]);
    }
    const refusal = { plugin: "small", asked: "process.exit(7)" };
    expect(await get("/api/sessions/exit/context")).toMatchObject({
      turn: { refusals: [{ ...refusal, reason: "it would end the gateway" }] },
    });
    child.process.kill("SIGUSR2");
    await expect.poll(log).toContain("process.exit(12) would end the gateway; it was refused");
    expect(log()).not.toContain("an error of the gateway itself");
    const { refused, strays } = await record();
    expect(refused?.count).toBeGreaterThanOrEqual(16);
    expect(strays?.count).toBeGreaterThan(10_000);
    expect((await clew(home, ["doctor"])).output).toMatch(
      /warning {2}plugin small: \d+ things that no plugin may do, the last at .*process\.exit\(12\)/,
    );
    expect(await stop()).toBe(0);
  });
});

/** What an engine does in place of choosing, and what the turn says of it. */
const VIEWS: Record<string, [code: string, held: object]> = {
  hangs: ["await new Promise(() => {});", failed("5 s")],
  "throws in a getter": [
    "return { get messages() { throw new Error('trap'); }, estimatedTokens: 0 };",
    failed("could not be read: trap"),
  ],
  "changes what it is given": [
    "for (const each of messages) { each.role = 'system'; each.content = 'changed'; }",
    failed('messages[0].role is "system"'),
  ],
  "answers with forty megabytes, and one token": [
    "return { messages: [...messages, { role: 'user', content: 'x'.repeat(40e6) }], estimatedTokens: 1 };",
    failed("makes more than 33554432 characters"),
  ],
  "answers with more than the window, and one token": [
    "return { messages: [...messages, { role: 'user', content: 'many words '.repeat(1e6) }], estimatedTokens: 1 };",
    { engine: { degraded: null }, turn: { views: { fallbacks: 1 } } },
  ],
  "is noisy": [
    "process.stdout.write('noise\\n'); console.error('noise');",
    { engine: { degraded: null } },
  ],
};

function failed(why: string): object {
  const reason = expect.stringContaining(why) as string;
  return { engine: { degraded: { operation: "assemble", reason } } };
}

describe("a plugin whose engine cheats", () => {
  it("costs its own turns no more than itself", async () => {
    const cases = Object.values(VIEWS).map(([code], at) => `case "v${at}": { ${code} break; }`);
    const { say, get, log, stop } = await startPluginProcess(
      engineCode(
        "small",
        `assemble: async ({ messages, sessionKey }) => {
          if (messages.length > 0) switch (sessionKey.split(":").at(-1)) { ${cases.join("\n")} }
          return { messages, estimatedTokens: 0 };
        },`,
      ),
      { entry: { failurePolicy: "retry-next-turn", timeoutSeconds: 5 } },
    );
    for (const [at, [name, [, held]]] of Object.entries(VIEWS).entries()) {
      await say("hello", `v${at}`);
      const ended = (await say("and again", `v${at}`)).at(-1);
      expect(ended, name).toMatchObject({ outcome: "completed" });
      expect(await get(`/api/sessions/v${at}/context`), name).toMatchObject(held);
      expect(JSON.stringify(await get(`/api/sessions/v${at}`)), name).toContain('"hello"');
    }
    expect(log()).not.toContain("an error of the gateway itself");
    expect(await stop()).toBe(0);
  });
});

/** Code that runs while a view is made, and what is put back. */
const REPLACED: Record<string, [code: string, name: string]> = {
  emit: ["node('events').prototype.emit = () => true;", "events.EventEmitter.prototype.emit"],
  call: ["Function.prototype.call = () => {};", "Function.prototype.call"],
  apply: ["Function.prototype.apply = () => {};", "Function.prototype.apply"],
  bind: ["Function.prototype.bind = () => () => {};", "Function.prototype.bind"],
  write: ["node('fs').write = () => {};", "fs.write"],
  rename: ["node('fs').promises.rename = async () => {};", "fs/promises.rename"],
  stream: [
    "node('fs').WriteStream.prototype.write = () => true;",
    "fs.WriteStream.prototype.write",
  ],
  end: ["node('http').ServerResponse.prototype.end = () => {};", "ServerResponse.prototype.end"],
  socket: ["node('net').Socket.prototype.write = () => true;", "net.Socket.prototype.write"],
  server: ["node('http').Server.prototype.emit = () => true;", "http.Server.prototype.emit"],
  hash: ["node('crypto').createHash = () => { throw 1; };", "crypto.createHash"],
  uuid: [
    "node('crypto').randomUUID = () => 'same'; node('module').syncBuiltinESMExports();",
    "crypto.randomUUID",
  ],
  buffer: ["globalThis.Buffer = undefined;", "Buffer (put back)"],
  concat: ["Buffer.concat = () => new Uint8Array(0);", "Buffer.concat"],
  database: [
    "node('sqlite').DatabaseSync.prototype.prepare = () => { throw 1; };",
    "DatabaseSync.prototype.prepare",
  ],
  self: ["globalThis.self = {};", "self (added, put back)"],
  exiting: ["process._exiting = true;", `process._exiting${REFUSED}`],
  "file-handle": [
    "const handle = await node('fs').promises.open(process.execPath); for (const name of ['write', 'appendFile', 'datasync']) made(handle)[name] = async (bytes) => ({ bytesWritten: bytes?.length }); await handle.close();",
    `FileHandle.prototype.datasync${REFUSED}`,
  ],
  "file-handle-hangs": [
    "const handle = await node('fs').promises.open(process.execPath); setTimeout(() => { for (const name of ['write', 'sync', 'stat']) made(handle)[name] = () => new Promise(() => {}); void handle.close(); });",
    `FileHandle.prototype.stat${REFUSED}`,
  ],
  binding: ["process.binding('fs').writeBuffer = () => 0;", `.writeBuffer${REFUSED}`],
  "timer-class": [
    "made(setTimeout(() => {}, 1)).unref = () => { throw new Error('taken'); };",
    "Timeout.prototype.unref (put back)",
  ],
  "immediate-class": [
    "made(setImmediate(() => {})).unref = () => { throw new Error('taken'); };",
    "Immediate.prototype.unref (put back)",
  ],
  "map-walk": [
    "made(new Map().entries()).next = () => ({ done: true });",
    "Map Iterator.next (put back)",
  ],
  "matches-walk": [
    "made('a'.matchAll(/a/g)).next = () => ({ done: true });",
    "RegExp String Iterator.prototype.next (put back)",
  ],
  "hash-class": [
    "made(node('crypto').createHash('sha256')).update = () => { throw new Error('taken'); };",
    "Hash.prototype.update (put back)",
  ],
  "stream-reader": [
    "made(new ReadableStream().values()).next = () => { throw new Error('taken'); };",
    "next (put back)",
  ],
  "socket-handle": [
    "const socket = new (node('net').Socket)(); socket.on('error', () => {}); socket.connect({ host: '127.0.0.1', port: 9 }); made(made(socket._handle)).writeUtf8String = () => 0; socket.destroy();",
    "LibuvStreamWrap.prototype.writeUtf8String (put back)",
  ],
  ancestor: ["Object.setPrototypeOf(process, null);", "process.__proto__ (put back)"],
  size: ["getter(Map.prototype, 'size');", "Map.prototype.size (put back)"],
  flags: ["getter(RegExp.prototype, 'flags');", "RegExp.prototype.flags (put back)"],
  species: ["getter(Array, Symbol.species);", "Array[Symbol.species] (put back)"],
  length: [
    "getter(Object.getPrototypeOf(Uint8Array).prototype, 'length');",
    "TypedArray.length (put back)",
  ],
  index: [
    "Object.defineProperty(Array.prototype, '0', { set() { throw new Error('taken'); }, configurable: true });",
    "Array.prototype.0 (added, put back)",
  ],
  "index-later": [
    "setTimeout(() => { Object.defineProperty(Array.prototype, '1', { set() { throw new Error('taken'); }, configurable: true }); throw new Error('and told'); }, 50);",
    "Array.prototype.1 (added, put back)",
  ],
  dispatcher: [
    "globalThis[Symbol.for('undici.globalDispatcher.2')] = { dispatch() { throw new Error('taken'); } };",
    "undici.globalDispatcher.2 (put back)",
  ],
  later: [
    "setTimeout(() => { node('http').ServerResponse.prototype.write = () => true; }, 300);",
    "ServerResponse.prototype.write",
  ],
  "all-later": [
    "setTimeout(() => { node('events').prototype.emit = () => true; node('net').Socket.prototype.write = () => true; }, 300);",
    "net.Socket.prototype.write",
  ],
};

/** Code that runs while a view is made: without what it would replace nobody goes on waiting. */
const WAITS: Record<string, [code: string, name: string]> = {
  "then-at-once": ["Promise.prototype.then = never;", "Promise.prototype.then"],
  "then-later": [
    "setTimeout(() => { Promise.prototype.then = never; }, 5);",
    "Promise.prototype.then",
  ],
  "then-inside": [
    "await null; Promise.prototype.then = never; await new Promise((go) => setTimeout(go, 50));",
    "Promise.prototype.then",
  ],
  all: ["queueMicrotask(() => { Promise.race = Promise.all = never; });", "Promise.all"],
  resolve: ["await null; Promise.resolve = Promise.withResolvers = never;", "Promise.resolve"],
  class: ["setTimeout(() => { Promise = class {}; }, 5);", "Promise"],
  timers: ["await null; setTimeout = setImmediate = queueMicrotask = () => 1;", "setTimeout"],
  tick: ["setImmediate(() => { process.nextTick = () => {}; });", "process.nextTick"],
};

/** Lines of all sessions that say what a person said. */
function storedIn(home: string): string[] {
  const folder = join(home, "agents/main/sessions");
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return files
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    .filter((line) => line.includes('"role":"user"'));
}

describe("a plugin that replaces what code waits by", () => {
  it("replaces nothing, keeps no session busy, and is named", async () => {
    const cases = Object.entries(WAITS).map(([name, [code]]) => `case "${name}": ${code} break;`);
    const { say, log, record, stop } = await startPluginProcess(
      `const never = () => new Promise(() => {});
      class Own extends Promise {}
      Own.prototype.then = function (...given) { return super_.apply(this, given); };
      const super_ = Promise.prototype.then;
      ${engineCode(
        "small",
        `assemble: async ({ messages, sessionKey }) => {
          switch (sessionKey.split(":").at(-1)) { ${cases.join("\n")} }
          return { messages: await new Own((go) => go(messages)), estimatedTokens: 0 };
        },`,
      )}`,
      { entry: { failurePolicy: "retry-next-turn" } },
    );
    for (const [name, [, asked]] of Object.entries(WAITS)) {
      for (let turn = 0; turn < 2; turn++)
        expect((await say("hello", name)).at(-1), name).toMatchObject({ outcome: "completed" });
      await expect
        .poll(log, { message: name, timeout: 120_000 })
        .toContain(
          `[plugins] small: ${asked} = … would replace it for the gateway; it was refused`,
        );
    }
    expect((await record()).strays).toBeNull();
    expect(await stop()).toBe(0);
  });
});

describe("a plugin that changes what all code shares", () => {
  it("stops no answer by what it puts in place of Node's own functions", async () => {
    const cases = Object.entries(REPLACED).map(
      ([name, [code]]) => `case "${name}": { ${code} break; }`,
    );
    const { home, say, log, stop } = await startPluginProcess(
      `const node = (name) => process.getBuiltinModule('node:' + name);
      const made = (thing) => Object.getPrototypeOf(thing);
      const getter = (of, name) =>
        Object.defineProperty(of, name, { get() { throw new Error("taken"); }, configurable: true });
      ${engineCode(
        "small",
        `assemble: async ({ messages, sessionKey }) => {
          switch (sessionKey.split(":").at(-1)) { ${cases.join("\n")} }
          return { messages, estimatedTokens: 0 };
        },`,
      )}`,
      { entry: { failurePolicy: "retry-next-turn" } },
    );
    for (const [name, [, told]] of Object.entries(REPLACED)) {
      for (const session of [name, "plain"])
        expect((await say(`hello from ${name}`, session)).at(-1), name).toMatchObject({
          outcome: "completed",
        });
      await expect.poll(log, { message: name, timeout: 120_000 }).toContain(told);
    }
    expect(log()).not.toContain("an error of the gateway itself");
    expect(await stop()).toBe(0);
    const stored = storedIn(home);
    for (const name of Object.keys(REPLACED))
      expect(
        stored.filter((line) => line.includes(`hello from ${name}"`)),
        name,
      ).toHaveLength(2);
  });

  it("cannot freeze the process so that it does not end", async () => {
    const { say, log, stop } = await startPluginProcess(
      engineCode(
        "small",
        "assemble: async ({ messages }) => { Object.freeze(process); return { messages, estimatedTokens: 0 }; },",
      ),
    );
    for (let turn = 0; turn < 2; turn++)
      expect((await say("hello")).at(-1)).toMatchObject({ outcome: "completed" });
    expect(log()).toContain("process (frozen, until a restart)");
    expect(await stop()).toBe(0);
  });

  it("harms nobody, whether it does so at import, in register or in a turn, and is named", async () => {
    const code = engineCode(
      "small",
      `assemble: async ({ messages }) => {
        globalThis.fetch = () => { throw new Error("taken"); };
        Array.prototype.map = () => [];
        return { messages, estimatedTokens: 0 };
      },`,
    ).replace("api.registerContextEngine", "Object.is = 1; api.registerContextEngine");
    const { home, say, log, record, stop } = await startPluginProcess(
      `JSON.stringify = () => { throw new Error("taken"); };
      Object.prototype.type = { valueOf() { throw new Error("taken"); } };\n${code}`,
    );
    expect(log()).toMatch(
      /\[plugins\] small: it changed what all code here shares: Object\.prototype\.type \(added, put back\), .*JSON\.stringify \(put back\)/,
    );
    expect(log()).toContain("Object.is (put back)");
    for (let turn = 0; turn < 2; turn++)
      expect((await say("hello")).at(-1)).toMatchObject({ outcome: "completed" });
    await expect.poll(async () => (await record()).changed?.count).toBe(3);
    expect((await record()).changed!.last.message).toMatch(/Array\.prototype\.map.*fetch|fetch/);
    expect((await clew(home, ["doctor"])).output).toMatch(
      /warning {2}plugin small: 3 changes of what all plugins share, the last at .*fetch \(put back\)/,
    );
    expect(await stop()).toBe(0);
  });
});

describe("what a plugin may ask of the process", () => {
  it("is what does not reach the process itself", () => {
    const pid = 4711;
    const asked = (member: Parameters<typeof planAct>[0], ...given: unknown[]) =>
      planAct(member, given, { pid, group: 4000 }).kind;
    expect(asked("kill", pid)).toBe("refused");
    expect(asked("kill", String(pid), "SIGTERM")).toBe("refused");
    expect(asked("kill", -pid)).toBe("refused");
    expect(asked("kill", -4000)).toBe("refused");
    expect(asked("kill", -1)).toBe("refused");
    expect(asked("kill", { valueOf: () => 4712 })).toBe("refused");
    expect(asked("kill", pid, 0)).toBe("allowed");
    expect(asked("kill", 4000)).toBe("allowed");
    expect(asked("kill", 4712, "SIGTERM")).toBe("allowed");
    expect(asked("emit", "warning")).toBe("allowed");
    expect(asked("emit", Symbol("SIGTERM"))).toBe("allowed");
    expect(planListener("SIGTERM").kind).toBe("allowed");
    expect(planListener("unhandledRejection").kind).toBe("refused");
  });

  it("is told with what it was given, of which nothing is looked into", () => {
    const trap = new Proxy({}, { get: () => expect.unreachable() });
    expect(planAct("exit", [trap], { pid: 1, group: undefined })).toMatchObject({
      asked: "process.exit(…)",
    });
  });
});
