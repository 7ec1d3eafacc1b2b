// Keeps plugins from replacing the functions by which code waits, and by which it stores.
import type { RunningPlugin } from "../load/running.ts";
import { callingPlugin } from "./acting-plugin.ts";
import type { HiddenClass } from "./hidden-classes.ts";

/**
 * Who waits by another function, if only for a moment, may wait for ever: to put these back is too
 * late. Names that this Node lacks are left out.
 */
const WAITED_BY: readonly [holder: object, name: string, members: readonly string[]][] = [
  [Promise.prototype, "Promise.prototype.", ["then", "catch", "finally", "constructor"]],
  [
    Promise,
    "Promise.",
    [
      ...["all", "allSettled", "any", "race", "reject", "resolve", "try", "withResolvers"],
      "prototype",
    ],
  ],
  [process, "process.", ["nextTick"]],
  [
    globalThis,
    "",
    [
      ...["Promise", "queueMicrotask", "setTimeout", "setInterval", "setImmediate"],
      ...["clearTimeout", "clearInterval", "clearImmediate"],
    ],
  ],
];

// As it is before any plugin.
const { defineProperty, getOwnPropertyDescriptor } = Object;

/** What is said to be stored, and was not, is lost. */
const STORED_BY: readonly string[] = ["FileHandle.prototype", 'process.binding("fs")'];

/** Those that are no functions are left out later. */
const ownMembers = (holder: object) =>
  Object.keys(Object.getOwnPropertyDescriptors(holder)).filter((key) => key !== "constructor");

/** For the life of the process, to be called once. `refuse` is told of those who tried. */
export function lockWaiting(
  hidden: readonly HiddenClass[],
  refuse: (plugin: RunningPlugin, name: string) => void,
): void {
  const storedBy = hidden
    .filter(({ name }) => STORED_BY.includes(name))
    .map(({ holder, name }) => [holder, `${name}.`, ownMembers(holder)] as const);
  for (const [holder, name, members] of [...WAITED_BY, ...storedBy])
    for (const member of members) {
      const was = getOwnPropertyDescriptor(holder, member);
      if (was?.configurable === true && typeof was.value === "function")
        lock(holder, { member, name: `${name}${member}`, was });
    }
  // `Promise[Symbol.species]` decides what `then` makes, and has a getter of its own.
  defineProperty(Promise, Symbol.species, { configurable: false });

  function lock(
    holder: object,
    { member, name, was }: { member: string; name: string; was: PropertyDescriptor },
  ): void {
    const get = () => was.value as unknown;
    const set = function (this: unknown, value: unknown): void {
      if (this !== holder && Object(this) === this) {
        // One that inherits it has its own.
        const own = { value, writable: true, enumerable: true, configurable: true };
        defineProperty(this as object, member, own);
        return;
      }
      const caller = callingPlugin(set);
      if (caller === undefined) throw new TypeError(`${name} cannot be replaced here`);
      refuse(caller.plugin, name);
    };
    const { enumerable = false } = was;
    defineProperty(holder, member, { configurable: false, enumerable, get, set });
  }
}
