// Says which plugin changed what all code of the process shares.
import { pluginOfStack } from "../load/module-hooks.ts";
import type { Strays } from "../strays.ts";
import { filesOfFunctions } from "./function-file.ts";
import { guardWaiting, isProcessGuarded } from "./guard-process.ts";
import { hiddenClasses } from "./hidden-classes.ts";
import { type SharedChange, type SharedObjects, watchShared } from "./shared-objects.ts";
import type { LastingChange } from "./watchdog-order.ts";

export interface SharedWatch {
  /** Runs a plugin's code: what it changed is put back before anything else runs. */
  around<Result>(pluginId: string, work: () => Result): Result;
  /** A plugin that is to run in this process is about to be loaded; until then nothing is done. */
  beforeLoad(): Promise<void>;
  /** To be called whenever a run is over. */
  afterRun(): void;
  /** A plugin was loaded, and has registered what it offers. */
  afterLoad(pluginId: string): void;
}

const NAMED = 8;
const HOW: Record<SharedChange["kind"], string> = {
  changed: "",
  removed: "removed, ",
  added: "added, ",
  frozen: "frozen, ",
};

/** One for the process: what it remembers is from before any plugin ran. */
let ofProcess: SharedObjects | undefined;

let preparing: Promise<void> | undefined;

async function prepare(): Promise<void> {
  const hidden = await hiddenClasses();
  guardWaiting(hidden);
  ofProcess = watchShared(globalThis, hidden);
}

/** Says whose doing it may have been. */
let tell: (changes: readonly SharedChange[]) => void = () => {};
let onLasting: (change: LastingChange) => void = () => {};

/** `told` of what plugins changed that cannot be put back. */
export function watchLasting(told: typeof onLasting): void {
  onLasting = told;
}

/**
 * Puts back at once what plugins changed between calls; `isVital`: only that without which nothing
 * works. Never throws.
 */
export function mendShared(isVital = false): void {
  try {
    const changes = (isVital ? ofProcess?.peek() : ofProcess?.glance()) ?? [];
    if (changes.length > 0) tell(changes);
  } catch {}
}

/** `given`: what is looked after; absent: this process, if it is ours to. */
export function createSharedWatch(strays: Strays, given?: SharedObjects): SharedWatch {
  const sharedNow = () => given ?? ofProcess;
  const known = new Set<string>();
  /** Calls that have begun and not ended, by plugin. */
  const underWay = new Map<string, number>();
  const count = (pluginId: string, by: 1 | -1) => {
    const left = (underWay.get(pluginId) ?? 0) + by;
    if (left === 0) underWay.delete(pluginId);
    else underWay.set(pluginId, left);
  };
  const note = (changes: readonly SharedChange[], suspects: Iterable<string>) => {
    if (changes.length === 0) return;
    let told = false;
    for (const [pluginId, { done, others }] of layAtDoors(changes, [...suspects])) {
      const lasting = done.find(isOfLanguage) ?? done.find(isLasting);
      // First: to tell of it may be what does not work any more.
      if (lasting !== undefined && !told) {
        const changedBy = [pluginId, ...others];
        onLasting({ changedBy, name: lasting.name, isOfLanguage: isOfLanguage(lasting) });
        told = true;
      }
      const message = describeChanges(done, others);
      latest = { at: monotonic(), text: `plugin "${pluginId}": ${message}` };
      strays.note(pluginId, message, "changed");
    }
  };
  if (given === undefined) {
    tell = (changes) => note(changes, known);
    onBusy = (pluginId, message) => void strays.note(pluginId, message, "busy");
  }
  return {
    around(pluginId, work) {
      const shared = sharedNow();
      if (shared === undefined) return work();
      // A timer's doing is not that of whoever is called next.
      note(shared.peek(), known);
      known.add(pluginId);
      let result: ReturnType<typeof work>;
      try {
        result = work();
      } finally {
        // Nobody else's code ran meanwhile.
        note(shared.peek(), [pluginId]);
      }
      if (!(result instanceof Promise)) return result;
      count(pluginId, 1);
      return settled(result, () => {
        note(shared.peek(), underWay.keys());
        count(pluginId, -1);
      }) as typeof result;
    },
    async beforeLoad() {
      if (given === undefined && isProcessGuarded()) {
        preparing ??= prepare();
        await preparing;
      }
      note(sharedNow()?.glance() ?? [], known);
    },
    afterRun: () => note(sharedNow()?.glance() ?? [], known),
    afterLoad(pluginId) {
      known.add(pluginId);
      note(sharedNow()?.check() ?? [], [pluginId]);
    },
  };
}

let onBusy: (pluginId: string, message: string) => void = () => {};

/** Takes note of a plugin that leaves others little of the loop. */
export const tellBusy = (pluginId: string, message: string): void => onBusy(pluginId, message);

// As it is before any plugin.
const monotonic = performance.now.bind(performance);
const LATELY_MS = 10_000;
let latest = { at: Number.NEGATIVE_INFINITY, text: "" };

/**
 * To be called where something failed that nobody expected: puts back what may be why. Undefined:
 * no plugin changed anything of late.
 */
export function mendAfterFailure(): string | undefined {
  mendShared();
  return monotonic() - latest.at < LATELY_MS ? latest.text : undefined;
}

/** Code of all kinds relies on these. To freeze them changes nothing of what they do. */
const LANGUAGE =
  /^(JSON|Promise|Object|Array|Map|Set|String|Number|Symbol|RegExp|Error|Function|TypedArray|Uint8Array|ArrayBuffer|Math|Reflect)(\.prototype)?(\.|\[)|^(Array|Map|Set|String|RegExp String) Iterator\./;
const isOfLanguage = ({ name, kind, isMended }: SharedChange) =>
  !isMended && (kind === "changed" || kind === "removed") && isRelied(name);
/** Whoever prepares stack traces harms nobody else. */
const isRelied = (name: string) => LANGUAGE.test(name) && !name.startsWith("Error.");

/** A method more does no harm, unless every object has it. */
const isLasting = ({ name, kind, isMended }: SharedChange) =>
  !isMended && (kind !== "added" || name.startsWith("Object.prototype."));

/** Whose door changes are laid at, and whose else they may be. */
type Doors = Map<string, { done: SharedChange[]; others: string[] }>;

/** The file that a function is from says who did it: it may have come into another one's call. */
function layAtDoors(changes: readonly SharedChange[], suspects: readonly string[]): Doors {
  const doors: Doors = new Map();
  if (changes.length === 0) return doors;
  const files = filesOfFunctions(changes.map(({ found }) => found));
  for (const [at, change] of changes.entries()) {
    const file = files[at];
    const maker = file === undefined ? undefined : pluginOfStack(file)?.pluginId;
    for (const pluginId of maker === undefined ? suspects : [maker]) {
      const door = doors.get(pluginId) ?? { done: [], others: [] };
      door.done.push(change);
      if (maker === undefined) door.others = suspects.filter((id) => id !== pluginId);
      doors.set(pluginId, door);
    }
  }
  return doors;
}

/** `await` asks for no method that could have been changed. */
async function settled<Result>(result: Promise<Result>, after: () => void): Promise<Result> {
  try {
    return await result;
  } finally {
    after();
  }
}

/** Pure. `others`: who may have done it as well. */
export function describeChanges(
  changes: readonly SharedChange[],
  others: readonly string[] = [],
): string {
  const who = ["it", ...others.map((id) => `plugin "${id}"`)].join(" or ");
  const named = changes.slice(0, NAMED).map(({ name, kind, isMended }) => {
    const now = isMended ? "put back" : kind === "added" ? "which stays" : "until a restart";
    return `${name} (${HOW[kind]}${now})`;
  });
  const more = changes.length > NAMED ? ` and ${changes.length - NAMED} more` : "";
  return `${who} changed what all code here shares: ${named.join(", ")}${more}`;
}
