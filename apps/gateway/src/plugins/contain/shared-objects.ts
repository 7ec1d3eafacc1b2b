// Notices when somebody changes what all code of a process shares, and puts it back.
import * as asyncHooks from "node:async_hooks";
import * as buffer from "node:buffer";
import * as childProcess from "node:child_process";
import * as crypto from "node:crypto";
import * as dns from "node:dns";
import * as events from "node:events";
import * as fs from "node:fs";
import * as fsPromises from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import * as net from "node:net";
import * as path from "node:path";
import * as sqlite from "node:sqlite";
import * as stream from "node:stream";
import * as streamPromises from "node:stream/promises";
import * as timers from "node:timers";
import * as timersPromises from "node:timers/promises";
import * as tls from "node:tls";
import * as url from "node:url";
import * as util from "node:util";
import * as workerThreads from "node:worker_threads";
import * as zlib from "node:zlib";
import type { HiddenClass } from "./hidden-classes.ts";

export interface SharedChange {
  /** As code names it: "JSON.parse". */
  name: string;
  kind: "changed" | "removed" | "added" | "frozen";
  /** True: it is again as it was. */
  isMended: boolean;
  /** What was found there, or its getter or setter. Absent: nothing, or what was there before. */
  found?: unknown;
}

export interface SharedObjects {
  /** What is not as it was, each once; mends what can be mended. */
  check(): SharedChange[];
  /** The same, for functions that are another one now: some tenths of a millisecond. */
  glance(): SharedChange[];
  /** The same, for those without which nothing works: some microseconds. */
  peek(): SharedChange[];
}

/** One property that is to stay. */
interface Kept {
  holder: object;
  key: PropertyKey;
  name: string;
  was: PropertyDescriptor;
  /** What its getter gave. Absent: it has none, or it was not asked. */
  value?: unknown;
}

/** An object whose names are to stay as few, and its ancestor. */
interface Prototype {
  holder: object;
  name: string;
  /** Null: any may be added. */
  keys: readonly PropertyKey[] | null;
  parent: object | null;
  /** True: it was frozen, which is told. Absent: nothing is kept from being changed there. */
  isClosed?: boolean;
  /** True: only what hides a member of an ancestor counts. Absent: whatever is added. */
  isOpen?: boolean;
}

/** Functions as our own modules import them by name, which Node keeps apart. */
interface Imported {
  module: Record<string, unknown>;
  key: string;
  name: string;
  was: unknown;
}

interface Shared {
  kept: Kept[];
  prototypes: Prototype[];
  imported: Imported[];
  world: object;
  /** Holders that no name leads to. */
  hidden: Set<object>;
}

const nothingOf = (world: object): Shared => ({
  ...{ kept: [], prototypes: [], imported: [], world, hidden: new Set() },
});

// As they are before any plugin runs: what is looked for may be one of them.
const { getOwnPropertyDescriptor, defineProperty, deleteProperty, ownKeys } = Reflect;
const { getPrototypeOf, setPrototypeOf, isExtensible } = Reflect;
const { is } = Object;
/** Whoever sets `globalThis` sets only what this name gives, not what it is. */
const THIS = globalThis;

/** Node and programs of all kinds put their own there. */
const FREE: readonly string[] = ["console"];
/** Other names of the world itself. */
const WORLD: readonly string[] = ["global", "globalThis"];
/** Their getters give the same each time; others load what nobody asked for. */
const READ: readonly string[] = ["Buffer", "process", "performance", "crypto"];

/** Libraries replace these members of `process`, and mean well. */
const FREE_OF_PROCESS: readonly PropertyKey[] = ["cwd", "chdir", "umask", "emitWarning"];

/** Where Node keeps what sends the requests of `fetch`, in this and in older versions. */
const DISPATCHERS = ["undici.globalDispatcher.2", "undici.globalDispatcher.1"].map((name) =>
  Symbol.for(name),
);

/** Without them a gateway answers nobody. */
const VITAL_MODULES = {
  ...{ fs, "fs/promises": fsPromises, crypto, buffer, events, stream, net, http, path, timers },
};
const MODULES: Readonly<Record<string, object>> = {
  ...VITAL_MODULES,
  ...{ async_hooks: asyncHooks, child_process: childProcess, dns, https, sqlite, tls, url, util },
  ...{ worker_threads: workerThreads, zlib },
  ...{ "stream/promises": streamPromises, "timers/promises": timersPromises },
};

/** `world`: what is looked after; absent: this process. `hidden`: what no name of it leads to. */
export function watchShared(
  world: object = globalThis,
  hidden: readonly HiddenClass[] = [],
): SharedObjects {
  const shared = remember(world, hidden);
  const vital = vitalOf(shared);
  const told: Record<string, true> = { __proto__: null } as never;
  const once = (changes: SharedChange[]): SharedChange[] => {
    const fresh: SharedChange[] = [];
    for (let at = 0; at < changes.length; at++) {
      const change = changes[at]!;
      if (change.isMended || told[change.name] === undefined) add(fresh, change);
      if (!change.isMended) told[change.name] = true;
    }
    return fresh;
  };
  return {
    check: () => once(checkAll(shared)),
    glance: () => (isAsItWas(shared) ? [] : once(checkAll(shared))),
    peek: () => (isAsItWas(vital) ? [] : once(checkAll(shared))),
  };
}

function remember(world: object, hidden: readonly HiddenClass[]): Shared {
  const shared = nothingOf(world);
  const seen = new Set<unknown>();
  for (const key of ownKeys(world)) {
    if (typeof key !== "string" || FREE.includes(key)) continue;
    const was = getOwnPropertyDescriptor(world, key)!;
    if (WORLD.includes(key)) {
      shared.kept.push({ holder: world, key, name: key, was });
      continue;
    }
    const held: unknown = isLocked(was) ? Reflect.get(world, key) : was.value;
    const isOwn = typeof held === "function" || isNamespace(held);
    if (!isOwn && was.get === undefined) continue;
    const value = READ.includes(key) && was.get ? (Reflect.get(world, key) as unknown) : undefined;
    if (!isLocked(was)) shared.kept.push({ holder: world, key, name: key, was, value });
    if (typeof value === "function") rememberObject(shared, value, key, seen);
    if (isOwn) rememberObject(shared, held as object, key, seen);
  }
  for (const prototype of hiddenPrototypes()) {
    rememberPrototype(shared, prototype, nameOf(prototype), seen);
    shared.hidden.add(prototype);
  }
  if (world === THIS) {
    for (const [name, module] of Object.entries(MODULES))
      rememberModule(shared, name, module, seen);
    rememberProcess(shared);
    rememberDispatchers(shared);
  }
  for (const each of hidden) rememberHidden(shared, each, seen);
  for (const prototype of shared.prototypes)
    if (!isExtensible(prototype.holder)) prototype.isClosed = true;
  return shared;
}

/** What is not a function, and decides whether anything is called any more. */
const STATE_OF_PROCESS = ["_exiting", "_events"] as const;

function rememberProcess(shared: Shared): void {
  const of = nothingOf(process);
  rememberProperties(of, process, "process");
  shared.kept.push(...of.kept.filter(({ key }) => !FREE_OF_PROCESS.includes(key)));
  for (const key of STATE_OF_PROCESS) rememberValue(shared, process, key, `process.${key}`);
  const parent = getPrototypeOf(process);
  shared.prototypes.push({ holder: process, name: "process", keys: null, parent });
}

/** Whoever sets another one decides where all calls of models go. */
function rememberDispatchers(shared: Shared): void {
  // It is there as soon as somebody has looked at fetch.
  void THIS.fetch;
  for (const key of DISPATCHERS)
    if (key in THIS) rememberValue(shared, THIS, key, key.description!);
}

function rememberValue(shared: Shared, holder: object, key: PropertyKey, name: string): void {
  const was = getOwnPropertyDescriptor(holder, key);
  if (was === undefined || isLocked(was)) return;
  const known = shared.kept.findIndex((each) => each.holder === holder && each.key === key);
  if (known !== -1) shared.kept.splice(known, 1);
  const value = Reflect.get(holder, key) as unknown;
  shared.kept.push({ holder, key, name, was, value });
}

/** What `import` and `require` give, and the methods of its classes. */
function rememberModule(shared: Shared, name: string, module: object, seen: Set<unknown>): void {
  const members = module as Record<string, unknown>;
  for (const [key, was] of Object.entries(members))
    if (typeof was === "function")
      shared.imported.push({ module: members, key, name: `${name}.${key}`, was });
  const holder = members.default as object;
  for (const key of ownKeys(holder)) {
    const was = getOwnPropertyDescriptor(holder, key)!;
    const made: unknown =
      was.get !== undefined && CLASSES.includes(key) ? members[key as string] : was.value;
    if (typeof made !== "function") continue;
    if (was.get === undefined)
      shared.kept.push({ holder, key, name: `${name}.${key as string}`, was });
    rememberClass(shared, made, `${name}.${key as string}`, seen);
  }
}

/** Those of them that modules make when they are first asked for. */
const CLASSES: readonly PropertyKey[] = ["ReadStream", "WriteStream", "AsyncLocalStorage"];

/** Programs of all kinds add methods of their own to classes, which is nobody's harm. */
function rememberClass(shared: Shared, made: object, name: string, seen: Set<unknown>): void {
  if (seen.has(made)) return;
  seen.add(made);
  const { value } = getOwnPropertyDescriptor(made, "prototype") ?? {};
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  rememberProperties(shared, made, name);
  // A function that is no class has one, too, of which nobody makes anything.
  if (getPrototypeOf(value) === Object.prototype && ownKeys(value).length === 1) return;
  const prototype = { holder: value as object, name: `${name}.prototype` };
  rememberProperties(shared, prototype.holder, prototype.name);
  const { holder } = prototype;
  shared.prototypes.push({
    ...{ ...prototype, keys: ownKeys(holder), parent: getPrototypeOf(holder), isOpen: true },
  });
}

const VITAL =
  /^(JSON|Promise|Promise\.prototype|Object|Array|Array\.prototype|Map|Map\.prototype|Set|Set\.prototype|String\.prototype|Symbol\.prototype|RegExp|RegExp\.prototype|Error\.prototype|Function\.prototype|TypedArray|ArrayBuffer\.prototype|Date|Number|Math|Reflect|WeakMap\.prototype|WeakSet\.prototype|Iterator\.prototype|EventTarget\.prototype|AbortSignal|AbortController\.prototype|ReadableStream\w*\.prototype|TextEncoder\.prototype|TextDecoder\.prototype|Headers\.prototype|Request\.prototype|Response\.prototype|URL\.prototype)[.[]|^(Promise|Map|Set|Date|Response|Request|Headers|ReadableStream|AbortSignal|TextEncoder|TextDecoder|Error|Error\.prepareStackTrace|fetch|globalThis|global|setTimeout|structuredClone|URL|AbortController|process\.(nextTick|_exiting|_events|__proto__)|undici\..*)$/;
const VITAL_PROTOTYPES: readonly string[] = [
  ...["Object.prototype", "Array.prototype", "Function.prototype", "Error.prototype", "process"],
  ...["Object", "Array", "Error", "Promise", "Uint8Array.prototype"],
];

const VITAL_NAMES = new Set([...Object.keys(VITAL_MODULES), "Buffer"]);
const isVital = (name: string) => VITAL_NAMES.has(name.split(".")[0]!);

const vitalOf = ({ kept, prototypes, world, hidden }: Shared): Shared => ({
  ...nothingOf(world),
  kept: kept.filter(({ name, holder }) => VITAL.test(name) || isVital(name) || hidden.has(holder)),
  // To list all names of something takes long.
  prototypes: prototypes.filter(({ name }) => VITAL_PROTOTYPES.includes(name) || isVital(name)),
});

const isNamespace = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Symbol.toStringTag in value;

function rememberObject(shared: Shared, object: object, name: string, seen: Set<unknown>): void {
  if (seen.has(object)) return;
  seen.add(object);
  rememberProperties(shared, object, name);
  if (typeof object === "function")
    shared.prototypes.push({
      ...{ holder: object, name, keys: ownKeys(object), parent: getPrototypeOf(object) },
      isOpen: true,
    });
  const { value } = getOwnPropertyDescriptor(object, "prototype") ?? {};
  // That of functions is one.
  if (value === Object(value))
    rememberPrototype(shared, value as object, `${name}.prototype`, seen);
}

function rememberPrototype(shared: Shared, holder: object, name: string, seen: Set<unknown>): void {
  if (seen.has(holder)) return;
  seen.add(holder);
  rememberProperties(shared, holder, name);
  shared.prototypes.push({ holder, name, keys: ownKeys(holder), parent: getPrototypeOf(holder) });
}

/** Programs add to these what they like, as to other classes. */
function rememberHidden(shared: Shared, { holder, name }: HiddenClass, seen: Set<unknown>): void {
  shared.hidden.add(holder);
  if (seen.has(holder)) return;
  seen.add(holder);
  rememberProperties(shared, holder, name);
  shared.prototypes.push({
    ...{ holder, name, keys: ownKeys(holder), parent: getPrototypeOf(holder), isOpen: true },
  });
}

/** Functions only: what else there is, such as `Error.stackTraceLimit`, anybody may set. */
function rememberProperties(shared: Shared, holder: object, name: string): void {
  for (const key of ownKeys(holder)) {
    const was = getOwnPropertyDescriptor(holder, key)!;
    if (isLocked(was) || (typeof was.value !== "function" && was.get === undefined)) continue;
    const own = typeof key === "symbol" ? `${name}[${key.description}]` : `${name}.${key}`;
    shared.kept.push({ holder, key, name: own, was });
  }
}

/** Nobody can put anything in its place. */
const isLocked = ({ configurable, get }: PropertyDescriptor) =>
  configurable === false && get !== undefined;

/** What loops and generators go through, and other ancestors that no name leads to. */
function hiddenPrototypes(): object[] {
  const walked = [[].values(), new Map().entries(), new Set().values(), ""[Symbol.iterator]()];
  const made = [function* () {}, async function* () {}];
  const generated = made.map(({ prototype }) => prototype as object);
  const others = [async () => {}, Uint8Array, Uint8Array.prototype];
  return [...walked, ...made, ...generated, ...others].map((each) => getPrototypeOf(each)!);
}

/** By its tag, or the name of its maker. */
const nameOf = (prototype: object): string =>
  String((prototype as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? "TypedArray");

/** Nothing of the language is used here that a change could have taken away. */
function checkAll({ kept, prototypes, imported, world }: Shared): SharedChange[] {
  const changes: SharedChange[] = [];
  // First: the others make objects.
  for (let at = 0; at < prototypes.length; at++) checkPrototype(prototypes[at]!, changes);
  for (let at = 0; at < kept.length; at++) checkKept(kept[at]!, changes);
  if (!isItself(world)) {
    const { value, get } = getOwnPropertyDescriptor(world, "self")!;
    const isMended = attempt(() => deleteProperty(world, "self"));
    add(changes, { name: "self", kind: "added", isMended, found: get ?? value });
  }
  let isSynced = true;
  for (let at = 0; at < imported.length; at++) {
    const { module, key, name, was } = imported[at]!;
    if (module[key] === was) continue;
    isSynced = false;
    if (isNamed(changes, name)) continue;
    const found = module[key];
    const isMended = attempt(() => {
      (module.default as Record<string, unknown>)[key] = was;
    });
    add(changes, { name, kind: "changed", isMended, found });
  }
  if (!isSynced) syncBuiltinESMExports();
  return changes;
}

/** Code that also runs in browsers takes `self`, where there is one, for the world. */
function isItself(world: object): boolean {
  const self = getOwnPropertyDescriptor(world, "self");
  return self === undefined || (self.get === undefined && self.value === world);
}

function isNamed(changes: readonly SharedChange[], name: string): boolean {
  for (let at = 0; at < changes.length; at++) if (changes[at]!.name === name) return true;
  return false;
}

function checkPrototype(prototype: Prototype, changes: SharedChange[]): void {
  const { holder, name, keys, parent, isOpen = false } = prototype;
  if (getPrototypeOf(holder) !== parent) {
    const isMended = attempt(() => setPrototypeOf(holder, parent));
    add(changes, { name: `${name}.__proto__`, kind: "changed", isMended });
  }
  if (prototype.isClosed !== true && !isExtensible(holder)) {
    prototype.isClosed = true;
    add(changes, { name, kind: "frozen", isMended: false });
  }
  if (keys === null) return;
  const now = ownKeys(holder);
  if (now.length === keys.length) return;
  const known: PropertyKey[] = [];
  for (let at = 0; at < keys.length; at++) add(known, keys[at]!);
  for (let at = 0; at < now.length; at++) {
    const key = now[at]!;
    if (isAmong(keys, key)) continue;
    const isHarmless = isOpen && !(parent !== null && key in parent);
    const { value, get, set } = getOwnPropertyDescriptor(holder, key)!;
    const isGone = !isHarmless && withoutHarm(prototype, key);
    // What stays is told of once.
    if (!isGone) add(known, key);
    if (isHarmless) continue;
    const own = typeof key === "symbol" ? `${name}[symbol]` : `${name}.${key as string}`;
    add(changes, { name: own, kind: "added", isMended: isGone, found: get ?? set ?? value });
  }
  prototype.keys = known;
}

/** Assigning it would call what somebody put into the ancestor of lists. */
function add<Item>(list: Item[], value: Item): void {
  const own = { value, writable: true, enumerable: true, configurable: true, __proto__: null };
  defineProperty(list, list.length, own);
}

/**
 * What hides something of all objects or of an ancestor, or an item that a list lacks, is taken
 * away; else it stays, but no loop comes upon it.
 */
function withoutHarm({ holder, name, parent, isOpen }: Prototype, key: PropertyKey): boolean {
  const hides = parent !== null && key in parent;
  if (name === "Object.prototype" || isOpen || hides || isIndex(key))
    return attempt(() => deleteProperty(holder, key));
  const now = getOwnPropertyDescriptor(holder, key);
  if (now?.enumerable === true)
    attempt(() => defineProperty(holder, key, { ...now, enumerable: false }));
  return false;
}

const isIndex = (key: PropertyKey) => typeof key === "string" && `${(key as never) >>> 0}` === key;

function isAmong(keys: readonly PropertyKey[], key: PropertyKey): boolean {
  for (let at = 0; at < keys.length; at++) if (keys[at] === key) return true;
  return false;
}

function checkKept({ holder, key, name, was, value }: Kept, changes: SharedChange[]): void {
  if (value !== undefined) {
    checkRead({ holder, key, name, was, value }, changes);
    return;
  }
  const now = getOwnPropertyDescriptor(holder, key);
  const isSame = now !== undefined && is(now.value, was.value) && now.get === was.get;
  const isFrozen = isSame && was.configurable === true && now.configurable === false;
  if (isSame && now.set === was.set && !isFrozen) return;
  // A property that Node makes when it is first read becomes a value by that.
  if (isMadeLate(holder, was, now)) return;
  const isMended = !isFrozen && attempt(() => defineProperty(holder, key, was));
  const kind = now === undefined ? "removed" : isFrozen ? "frozen" : "changed";
  const found: unknown = now?.get ?? now?.value;
  add(changes, kind === "changed" ? { name, kind, isMended, found } : { name, kind, isMended });
}

type Counted = { _events: object; _eventsCount: number };
const recount = (emitter: Counted) => {
  emitter._eventsCount = ownKeys(emitter._events).length;
};

const isMadeLate = (holder: object, was: PropertyDescriptor, now?: PropertyDescriptor) =>
  was.get !== undefined &&
  now !== undefined &&
  now.get === undefined &&
  (holder === THIS || holder === process);

/** Node's own setter remembers what it is given, so putting the getter back is not enough. */
function checkRead({ holder, key, name, was, value }: Kept, changes: SharedChange[]): void {
  const read = () => (holder as Record<PropertyKey, unknown>)[key];
  const isSame = () => attempt(() => is(read(), value));
  if (isSame()) return;
  const now = getOwnPropertyDescriptor(holder, key);
  attempt(() => defineProperty(holder, key, was));
  if (!isSame()) attempt(() => ((holder as Record<PropertyKey, unknown>)[key] = value));
  // Node takes new ones when it counts none.
  if (key === "_events") attempt(() => recount(holder as Counted));
  const kind = now === undefined ? "removed" : "changed";
  add(changes, { name, kind, isMended: isSame() });
}

/** Only values, getters, ancestors, and the number of names. */
function isAsItWas({ kept, prototypes, imported, world }: Shared): boolean {
  try {
    if (!isItself(world)) return false;
    for (let at = 0; at < kept.length; at++) {
      const { holder, key, was, value } = kept[at]!;
      if (was.get !== undefined && value === undefined) {
        const now = getOwnPropertyDescriptor(holder, key);
        if (now?.get !== was.get && !isMadeLate(holder, was, now)) return false;
        continue;
      }
      const expected = was.get === undefined && value === undefined ? was.value : value;
      if ((holder as Record<PropertyKey, unknown>)[key] !== expected) return false;
    }
    for (let at = 0; at < prototypes.length; at++) {
      const { holder, keys, parent, isClosed } = prototypes[at]!;
      if (getPrototypeOf(holder) !== parent) return false;
      if (isClosed !== true && !isExtensible(holder)) return false;
      if (keys !== null && ownKeys(holder).length !== keys.length) return false;
    }
    for (let at = 0; at < imported.length; at++) {
      const { module, key, was } = imported[at]!;
      if (module[key] !== was) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** Some cannot be changed back. */
function attempt(work: () => unknown): boolean {
  try {
    return work() !== false;
  } catch {
    return false;
  }
}
