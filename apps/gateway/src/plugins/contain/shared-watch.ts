// Says which plugin changed what all code of the process shares.
import { pluginOfStack } from "../load/module-hooks.ts";
import type { Strays } from "../strays.ts";
import { filesOfFunctions } from "./function-file.ts";
import { isProcessGuarded } from "./guard-process.ts";
import { type SharedChange, type SharedObjects, watchShared } from "./shared-objects.ts";

export interface SharedWatch {
  /** Runs a plugin's code: what it changed is put back before anything else runs. */
  around<Result>(pluginId: string, work: () => Result): Result;
  /** A plugin that is to run in this process is about to be loaded; until then nothing is done. */
  beforeLoad(): void;
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

/** Says whose doing it may have been. */
let tell: (changes: readonly SharedChange[]) => void = () => {};
let onLasting: (pluginId: string, name: string) => void = () => {};

/** `told` of what one plugin changed, and nobody else could have, that cannot be put back. */
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
    for (const [pluginId, { done, others }] of layAtDoors(changes, [...suspects])) {
      strays.note(pluginId, describeChanges(done, others), "changed");
      const lasting = done.find(isLasting);
      if (others.length === 0 && lasting !== undefined) onLasting(pluginId, lasting.name);
    }
  };
  if (given === undefined) tell = (changes) => note(changes, known);
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
    beforeLoad() {
      if (given === undefined && isProcessGuarded()) ofProcess ??= watchShared();
      note(sharedNow()?.glance() ?? [], known);
    },
    afterRun: () => note(sharedNow()?.glance() ?? [], known),
    afterLoad(pluginId) {
      known.add(pluginId);
      note(sharedNow()?.check() ?? [], [pluginId]);
    },
  };
}

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
