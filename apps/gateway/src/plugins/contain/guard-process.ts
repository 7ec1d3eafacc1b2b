// Keeps plugins from ending the process, and from its listeners.
import { EventEmitter } from "node:events";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { asPlugin, type RunningPlugin } from "../load/running.ts";
import { currentPluginScope } from "../load/scope.ts";
import { callingPlugin, isReadByNode } from "./acting-plugin.ts";
import { guardCallbacks } from "./guard-callbacks.ts";
import { guardedPids } from "./guarded-pids.ts";
import type { HiddenClass } from "./hidden-classes.ts";
import { lockWaiting } from "./lock-waiting.ts";
import { type ActPlan, planAct, planListener, WATCHED_ACTS } from "./plan-act.ts";

type Listener = (...given: unknown[]) => unknown;
type Members = Record<string, Listener>;

/** Thrown at a plugin that was refused: it is told of already. */
export class RefusedAct extends Error {}

const ADDING = [
  ...["on", "addListener", "once"],
  ...["prependListener", "prependOnceListener"],
] as const;
const REMOVING = ["removeListener", "off"] as const;
const LISTING = ["listeners", "rawListeners"] as const;

// As it is before any plugin.
const { apply } = Reflect;

let isSyncing = false;
let isGuarded = false;

/** True: this process is the gateway's, or that of a command. */
export const isProcessGuarded = (): boolean => isGuarded;

/**
 * For the life of the process, to be called once. What the gateway's own code calls stays as it
 * was; listeners of plugins run as theirs, and only those can be removed by plugins.
 */
export function guardProcess(onThrown: (error: unknown, plugin: RunningPlugin) => void): void {
  const listeners = createPluginListeners(onThrown);
  const pids = guardedPids(process.pid);
  for (const name of WATCHED_ACTS)
    guard(name, (plugin, given, isCode) => {
      // Node tells of signals, errors and the end by the same call.
      if (name === "emit" && !isCode) return undefined;
      const plan = planAct(name, given, pids);
      if (plan.kind === "allowed") return undefined;
      refuse(plugin, plan);
      return { value: name === "emit" ? false : [] };
    });
  for (const name of ADDING)
    guard(name, (plugin, [event, listener]) => {
      const plan = planListener(event);
      if (plan.kind === "refused") refuse(plugin, plan);
      else if (typeof listener === "function")
        listeners.add(plugin, { name, event, listener: listener as Listener });
      else return undefined;
      return { value: process };
    });
  for (const name of REMOVING)
    guard(name, (plugin, [event, listener]) => {
      if (listeners.has(listener)) return undefined;
      if (standsIn.has(listener as Listener) || own(event).includes(listener as Listener))
        refuse(plugin, removal(name, event));
      return { value: process };
    });
  /** Of the gateway's own, for plugins: they may be counted and asked for by name. */
  const standIns = new WeakMap<Listener, Listener>();
  const standsIn = new WeakSet<Listener>();
  const standInFor = (plugin: RunningPlugin, event: unknown, listener: Listener): Listener => {
    const known = standIns.get(listener);
    if (known !== undefined) return known;
    const made = () => refuse(callingPlugin(made)?.plugin ?? plugin, calling(event));
    standIns.set(listener, made);
    standsIn.add(made);
    return made;
  };
  const shownTo = (plugin: RunningPlugin, event: unknown, listener: Listener): Listener =>
    listeners.has(listener) ? listener : standInFor(plugin, event, listener);
  for (const name of LISTING)
    guard(name, (plugin, [event]) => {
      const all = process[name](event as "exit") as unknown as Listener[];
      return { value: all.map((each) => shownTo(plugin, event, each)) };
    });
  guardListeners(shownTo);
  for (const name of STATE_OF_PROCESS) guardState(name);
  guard("removeAllListeners", (plugin, [event]) => {
    const events = event === undefined ? process.eventNames() : [event as string];
    if (events.some((each) => own(each).some((listener) => !listeners.has(listener))))
      refuse(plugin, removal("removeAllListeners", event));
    for (const each of events)
      for (const listener of own(each))
        if (listeners.has(listener)) process.removeListener(each as string, listener);
    return { value: process };
  });
  guardEmitters();
  guardCallbacks(onThrown);
  isGuarded = true;
  isSyncing = true;
  syncBuiltinESMExports();
  isSyncing = false;
}

let isLocked = false;

/** To be called before a plugin is loaded: without one, code waits as fast as it can. */
export function guardWaiting(hidden: readonly HiddenClass[]): void {
  if (isLocked) return;
  isLocked = true;
  lockWaiting(hidden, (plugin, asked) => refuse(plugin, replacing(asked)));
}

/** Objects whose methods are guarded, also where a plugin takes them from an ancestor. */
const guarded = new WeakSet<object>([process]);
const answers = new WeakMap<object, Map<string, Answer>>();
// As it is before any plugin, which may put another function there.
const hasObject = WeakSet.prototype.has;
const isGuardedObject = (one: object): boolean => apply(hasObject, guarded, [one]);

/** What a plugin is answered in place of the call `holder.name(…)`. */
function answerFor(holder: object, name: string, answer: Answer): void {
  const known = answers.get(holder) ?? new Map<string, Answer>();
  answers.set(holder, known.set(name, answer));
}

const INHERITED = [...ADDING, ...REMOVING, ...LISTING, "removeAllListeners", "emit"] as const;

/** What a guard of an ancestor calls in its turn. */
const innerOf = new WeakMap<Listener, Listener>();

/** For all others they are as they were, and some 20 ns slower. */
function guardEmitters(): void {
  guardInherited(EventEmitter.prototype, INHERITED);
  guardInherited(net.Server.prototype, OF_SERVER);
  guardInherited(http.Server.prototype, OF_SERVER);
}

function guardInherited(holder: object, names: readonly string[]): void {
  const prototype = holder as Members;
  const made = new Map<Listener, Listener>();
  for (const name of names) {
    if (!Object.hasOwn(prototype, name)) continue;
    const inner = prototype[name]!;
    const known = made.get(inner);
    const guard = known ?? inheritedGuard(inner, name);
    made.set(inner, guard);
    const was = Object.getOwnPropertyDescriptor(prototype, name)!;
    Object.defineProperty(prototype, name, { ...was, value: guard });
  }
}

function inheritedGuard(inner: Listener, name: string): Listener {
  const made = function (this: object, ...given: unknown[]): unknown {
    if (isGuardedObject(this)) {
      const caller = callingPlugin(made);
      const answer = caller?.isCode === true ? answers.get(this)?.get(name) : undefined;
      const answered = caller && answer?.(caller.plugin, given, true);
      if (answered !== undefined) return answered.value;
    }
    return apply(inner, this, given);
  };
  Object.defineProperty(made, "name", { value: name });
  innerOf.set(made, inner);
  return made;
}

/** What of a server decides whether it answers. */
const OF_SERVER = [
  ...["close", "closeAllConnections", "closeIdleConnections", "unref", "listen"],
  ...["removeAllListeners", "removeListener", "off", "emit", "setTimeout"],
] as const;
const LIMITS_OF_SERVER = [
  ...["maxConnections", "maxHeadersCount", "requestTimeout", "headersTimeout"],
  ...["keepAliveTimeout", "maxRequestsPerSocket", "timeout", "dropMaxConnection"],
] as const;
/** Who listens for these answers in the gateway's place. */
const ASKED_OF_SERVER: readonly unknown[] = ["request", "checkContinue", "checkExpectation"];

/**
 * A plugin's route reaches the server by the socket of its request; it may listen there, for
 * upgrades for example, and neither close it nor answer for the gateway.
 */
export function guardServer(server: object): void {
  if (!isGuarded) return;
  guarded.add(server);
  const members = server as Members;
  const refused = (plugin: RunningPlugin, asked: string) => {
    const why = "would keep the gateway from answering";
    refuse(plugin, { kind: "refused", asked, why, isLoud: false });
    return { value: server };
  };
  for (const name of OF_SERVER)
    if (typeof members[name] === "function")
      guardMember(server, name, (plugin) => refused(plugin, `server.${name}()`));
  for (const name of ADDING)
    guardMember(server, name, (plugin, [event]) =>
      ASKED_OF_SERVER.includes(event)
        ? refused(plugin, `server.${name}(${JSON.stringify(event)})`)
        : undefined,
    );
  for (const name of LIMITS_OF_SERVER) {
    let value: unknown = members[name];
    const set = (given: unknown) => {
      const caller = callingPlugin(set);
      if (caller === undefined) value = given;
      else refused(caller.plugin, `server.${name} = …`);
    };
    Object.defineProperty(server, name, { configurable: true, get: () => value, set });
  }
}

function guardMember(holder: object, name: string, answer: Answer): void {
  const member = (holder as Members)[name]!;
  // Asked once who calls, not by an ancestor's guard again.
  const inner = innerOf.get(member) ?? member;
  answerFor(holder, name, answer);
  const value = (...given: unknown[]): unknown => {
    const caller = callingPlugin(value);
    const answered = caller?.isCode === true ? answer(caller.plugin, given, true) : undefined;
    return answered === undefined ? apply(inner, holder, given) : answered.value;
  };
  Object.defineProperty(holder, name, { configurable: true, writable: true, value });
}

/** What is done in place of the call; undefined: the call is made as it is. */
type Answer = (
  plugin: RunningPlugin,
  given: readonly unknown[],
  isCode: boolean,
) => { value: unknown } | undefined;

/**
 * The gateway's own code reads what is there, so that what it puts there (as what cleans up after
 * files does) and takes away again is never the guard itself. Plugins read the guard.
 */
function guard(name: string, answer: Answer): void {
  const members = process as unknown as Members;
  let inner = members[name];
  if (inner === undefined) return;
  answerFor(process, name, answer);
  // Ours is set. Modules of Node set theirs from anywhere, once a plugin has loaded them.
  if (name === "setUncaughtExceptionCaptureCallback") inner = () => {};
  const guarded = function (this: unknown, ...given: unknown[]): unknown {
    const caller = callingPlugin(guarded);
    const answered = caller && answer(caller.plugin, given, caller.isCode);
    return answered === undefined ? Reflect.apply(inner!, process, given) : answered.value;
  };
  Object.defineProperty(guarded, "name", { value: name });
  const get = () => {
    // It is what tells of errors, of which thousands may come at once.
    if (name === "emit" && isReadByNode()) return inner;
    return isSyncing || callingPlugin(get) !== undefined ? guarded : inner;
  };
  const set = (value: Listener) => {
    const caller = callingPlugin(set);
    if (caller === undefined) inner = value;
    // Clean-up of a plugin's own files does so too, and loses nothing.
    else if (name !== "emit" && name !== "reallyExit")
      refuse(caller.plugin, replacing(`process.${name}`));
  };
  // Whoever defines it anew gets an error from the language.
  Object.defineProperty(process, name, { configurable: false, enumerable: true, get, set });
}

/** Where Node keeps the listeners: plugins read a copy, in which the gateway's are stand-ins. */
function guardListeners(
  standInFor: (plugin: RunningPlugin, event: string, listener: Listener) => Listener,
): void {
  const members = process as unknown as { _events: Record<string, Listener | Listener[]> };
  let events = members._events;
  const get = () => {
    const caller = callingPlugin(get);
    if (caller?.isCode !== true) return events;
    const copy: typeof events = { __proto__: null } as never;
    const shown = (event: string, each: Listener) => standInFor(caller.plugin, event, each);
    for (const [event, kept] of Object.entries(events))
      copy[event] = Array.isArray(kept)
        ? kept.map((each) => shown(event, each))
        : shown(event, kept);
    return copy;
  };
  const set = (value: typeof events) => {
    const caller = callingPlugin(set);
    if (caller?.isCode !== true) events = value;
    else refuse(caller.plugin, replacing("process._events"));
  };
  Object.defineProperty(process, "_events", { configurable: false, enumerable: true, get, set });
}

/** Node sets these when listeners change and when it ends: a frozen process could do neither. */
const STATE_OF_PROCESS = ["_exiting", "_eventsCount"] as const;

function guardState(name: (typeof STATE_OF_PROCESS)[number]): void {
  let value = (process as unknown as Record<string, unknown>)[name];
  const set = (given: unknown) => {
    const caller = callingPlugin(set);
    if (caller?.isCode !== true) value = given;
    else refuse(caller.plugin, replacing(`process.${name}`));
  };
  const get = () => value;
  Object.defineProperty(process, name, { configurable: false, enumerable: true, get, set });
}

/** Throws `RefusedAct` where the plugin could take silence for success. */
function refuse(plugin: RunningPlugin, plan: Extract<ActPlan, { kind: "refused" }>): void {
  const { pluginId, strays } = plugin;
  const { asked, why } = plan;
  const message = `${asked} ${why}; it was refused`;
  const scope = currentPluginScope();
  if (strays.note(pluginId, message, "refused"))
    scope?.notice?.(`Plugin "${pluginId}": ${message}`);
  scope?.refused?.({ plugin: pluginId, asked, reason: `it ${why}` });
  if (plan.isLoud) throw new RefusedAct(`Plugin "${pluginId}": ${message}.`);
}

const replacing = (name: string): Extract<ActPlan, { kind: "refused" }> => ({
  ...{ kind: "refused", asked: `${name} = …`, isLoud: false },
  why: "would replace it for the gateway",
});

const removal = (name: string, event: unknown): Extract<ActPlan, { kind: "refused" }> => ({
  ...{ kind: "refused", isLoud: false, why: "would remove what the gateway listens with" },
  asked: `process.${name}(${event === undefined ? "" : JSON.stringify(String(event))})`,
});

const calling = (event: unknown): Extract<ActPlan, { kind: "refused" }> => ({
  ...{ kind: "refused", isLoud: false, why: "would call what the gateway listens with" },
  asked: `process.listeners(${JSON.stringify(String(event))})[…]()`,
});

const own = (event: unknown) => process.listeners(event as "exit") as unknown as Listener[];

interface Added {
  name: (typeof ADDING)[number];
  event: unknown;
  listener: Listener;
}

function createPluginListeners(onThrown: (error: unknown, plugin: RunningPlugin) => void) {
  /** As plugins know them. */
  const theirs = new WeakSet<object>();
  return {
    has: (listener: unknown) => typeof listener === "function" && theirs.has(listener),
    add(plugin: RunningPlugin, { name, event, listener }: Added): void {
      const isOnce = name === "once" || name === "prependOnceListener";
      const wrapped = Object.assign(
        (...given: unknown[]) => {
          if (isOnce) process.removeListener(event as string, wrapped);
          const exitCode = process.exitCode;
          try {
            return asPlugin(plugin, () => Reflect.apply(listener, process, given));
          } catch (error) {
            onThrown(error, plugin);
            return undefined;
          } finally {
            // What comes of a command is not for its plugins to say, unless it is their own.
            if (event === "exit" && plugin.mayEndProcess !== true) process.exitCode = exitCode;
          }
        },
        // By which Node finds it when it is to be removed.
        { listener },
      );
      theirs.add(listener);
      theirs.add(wrapped);
      if (name.startsWith("prepend")) process.prependListener(event as "exit", wrapped);
      else process.on(event as "exit", wrapped);
    },
  };
}
