// Finds the classes that no name leads to, but only what is made of them.
import { createHash, createHmac } from "node:crypto";
import { EventEmitter, on } from "node:events";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import { Socket } from "node:net";
import { devNull } from "node:os";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { Duplex, PassThrough, Readable } from "node:stream";
import { setInterval as ticks } from "node:timers/promises";
import { createGunzip, createGzip } from "node:zlib";

export interface HiddenClass {
  /** As code would name it: "FileHandle.prototype". */
  name: string;
  holder: object;
}

/** Things that are held by what was made, and what holds those, are looked at, no more. */
const DEPTH = 2;

/**
 * From samples of what the gateway works with, which are let go again. To be called before a plugin
 * is loaded: what one has changed would be taken for what it was.
 */
export async function hiddenClasses(): Promise<HiddenClass[]> {
  const found = new Map<object, string>();
  const visit = (made: unknown, depth: number): void => {
    if ((typeof made !== "object" && typeof made !== "function") || made === null) return;
    for (
      let holder = Object.getPrototypeOf(made) as object | null;
      holder !== null && holder !== Object.prototype && holder !== Function.prototype;
      holder = Object.getPrototypeOf(holder) as object | null
    )
      if (!found.has(holder)) found.set(holder, nameOf(holder));
    if (depth === 0) return;
    for (const key of Reflect.ownKeys(made)) {
      const held = Object.getOwnPropertyDescriptor(made, key)!;
      if ("value" in held) visit(held.value, depth - 1);
    }
  };
  const handle = await open(devNull);
  try {
    visit(handle, DEPTH);
  } finally {
    await handle.close();
  }
  // What this Node does not make has no class.
  for (const sample of SAMPLES)
    try {
      sample((made, depth = DEPTH) => visit(made, depth));
    } catch {}
  for (const name of BINDINGS)
    try {
      const holder = (process as unknown as Bound).binding(name);
      found.set(holder, `process.binding(${JSON.stringify(name)})`);
    } catch {}
  return [...found].map(([holder, name], at, all) => {
    const isTaken = all.slice(0, at).some(([, other]) => other === name);
    return { name: isTaken ? `${name} (${at})` : name, holder };
  });
}

type Bound = { binding(name: string): object };

/** What Node's modules call themselves, and old programs may. */
const BINDINGS = ["fs", "tcp_wrap", "stream_wrap", "zlib", "buffer", "contextify", "os"];

/** What compilers do not know yet. */
interface Iterators {
  Iterator: { from(given: object): { map(by: (value: unknown) => unknown): unknown } };
}

/** Shows what it makes, and ends it. */
type Sample = (show: (made: unknown, depth?: number) => void) => void;

const SAMPLES: readonly Sample[] = [
  (show) => {
    const timer = setTimeout(() => {}, 1);
    clearTimeout(timer);
    show(timer, 0);
  },
  (show) => {
    const immediate = setImmediate(() => {});
    clearImmediate(immediate);
    show(immediate, 0);
  },
  (show) => {
    // It never gets to connect.
    const socket = new Socket();
    socket.on("error", () => {});
    socket.connect({ host: "127.0.0.1", port: 9 });
    show(socket);
    socket.destroy();
  },
  (show) => {
    const server = createServer();
    show(server);
    const socket = new Duplex({ read() {}, write() {} });
    socket.on("error", () => {});
    server.emit("connection", socket);
    show(socket);
    socket.destroy();
  },
  (show) => {
    const database = new DatabaseSync(":memory:");
    const statement = database.prepare("select 1");
    for (const made of [database, statement, statement.iterate()]) show(made, 0);
    database.close();
  },
  (show) => {
    for (const made of [createHash("sha256"), createHmac("sha256", "")]) show(made);
  },
  (show) => {
    for (const made of [createGzip(), createGunzip()]) {
      show(made);
      made.destroy();
    }
  },
  (show) => {
    const input = new PassThrough();
    const lines = createInterface({ input });
    show(lines);
    show(lines[Symbol.asyncIterator](), 0);
    lines.close();
    input.destroy();
  },
  (show) => {
    const { port1, port2 } = new MessageChannel();
    show(port1);
    port1.close();
    port2.close();
  },
  (show) => {
    const listening = on(new EventEmitter(), "none");
    show(listening);
    void listening.return?.();
  },
  (show) => show(ticks(1), 0),
  (show) => show(Readable.from([])[Symbol.asyncIterator](), 0),
  (show) => show(new ReadableStream().values(), 0),
  (show) => show(new ReadableStream().getReader(), 0),
  (show) => show(new WritableStream().getWriter(), 0),
  (show) => show(new Response("").body, 0),
  (show) => show(new Headers().entries(), 0),
  (show) => show(new URLSearchParams().entries(), 0),
  (show) => show(new FormData().entries(), 0),
  (show) => show(new AbortController().signal, 0),
  (show) => show("".matchAll(/./g), 0),
  (show) => {
    const { Iterator } = globalThis as unknown as Iterators;
    const wrapped = Iterator.from({ next: () => ({ done: true, value: 0 }) });
    show(wrapped, 0);
    show(wrapped.map(String), 0);
  },
  (show) => {
    const segments = new Intl.Segmenter().segment("");
    show(segments, 0);
    show(segments[Symbol.iterator](), 0);
  },
];

function nameOf(holder: object): string {
  if (typeof holder === "function") return holder.name;
  const maker = Object.getOwnPropertyDescriptor(holder, "constructor")?.value as unknown;
  const named = typeof maker === "function" && maker.name !== "" ? maker.name : undefined;
  const tag = Object.getOwnPropertyDescriptor(holder, Symbol.toStringTag)?.value as unknown;
  return `${named ?? (typeof tag === "string" ? tag : "Object")}.prototype`;
}
