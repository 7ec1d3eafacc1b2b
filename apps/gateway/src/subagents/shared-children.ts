// Keeps what is known of child sessions where all gateways see it, and beside in their home.
import type { LogPort } from "@clew/engine-core";
import { type Child, isOver } from "./child.ts";
import type { ChildFiles } from "./child-files.ts";
import { lostEnding } from "./ending.ts";

/** A child, and whether the gateway that said so lives. */
export interface SharedChild {
  child: Child;
  lives: boolean;
}

/** What gateways tell each other of child sessions. */
export interface SharedChildren {
  /** In no order; what holds no child is told of, and stays. */
  all(onUnreadable: (what: string) => void): Promise<SharedChild[]>;
  /** Durable when it resolves. */
  put(child: Child): Promise<void>;
  remove(child: Child): Promise<void>;
}

export interface SharingOptions {
  /** Of this home: what began here, and which process of the home runs it. */
  files: ChildFiles;
  shared: SharedChildren;
  log: Pick<LogPort, "warn">;
}

/**
 * What is shared counts. Files have it as well, so that a home that goes back to files knows its
 * children; those that others run, or ran, have none here.
 */
export function createSharedFiles({ files, shared, log }: SharingOptions): ChildFiles {
  /** Began here, or in another process of this home. */
  const own = new Set<string>();
  /** Other gateways that live run these. */
  const elsewhere = new Set<string>();
  const all = async () => {
    const [known, kept] = await Promise.all([shared.all(warnOf(log)), files.all()]);
    for (const { key } of kept) own.add(key);
    elsewhere.clear();
    for (const { child, lives } of known)
      if (lives && !isOver(child) && !own.has(child.key)) elsewhere.add(child.key);
    return planKnown({ known, kept, own, now: Date.now() });
  };
  return {
    isShared: true,
    async write(child) {
      if (own.has(child.key)) await files.write(child);
      await shared.put(child);
    },
    async stage(child) {
      const commit = own.has(child.key) ? await files.stage(child) : undefined;
      return async () => {
        commit?.();
        await shared.put(child);
      };
    },
    async remove(child) {
      await shared.remove(child);
      await files.remove(child);
    },
    read: async ({ key }) => (await all()).find((child) => child.key === key),
    all,
    async lock(child) {
      if (elsewhere.has(child.key)) return null;
      own.add(child.key);
      return files.lock(child);
    },
    tidy: files.tidy,
  };
}

/** All there are, for who only looks; `kept`: those of the home. */
export async function withShared(
  shared: Pick<SharedChildren, "all">,
  kept: readonly Child[],
  log: Pick<LogPort, "warn">,
): Promise<Child[]> {
  const known = await shared.all(warnOf(log));
  return planKnown({ known, kept, own: new Set(), now: Date.now() });
}

const warnOf = (log: Pick<LogPort, "warn">) => (what: string) =>
  log.warn(`${what} holds no child session and is passed over.`);

/**
 * Pure. Oldest first. What began here and is not over is for this home to end; of what another one
 * ran that is dead it is known that it is lost.
 */
export function planKnown({
  known,
  kept,
  own,
  now,
}: {
  known: readonly SharedChild[];
  kept: readonly Child[];
  own: ReadonlySet<string>;
  /** ms since the epoch. */
  now: number;
}): Child[] {
  const keys = new Set(known.map(({ child }) => child.key));
  const standing = known.map(({ child, lives }) =>
    lives || own.has(child.key) || child.state === "ended" ? child : lost(child, now),
  );
  return [...standing, ...kept.filter(({ key }) => !keys.has(key))].sort(
    (a, b) => a.startedAt - b.startedAt,
  );
}

/** Where it had ended, that stands. */
function lost(child: Child, now: number): Child {
  const { reply, ...end } = lostEnding(child);
  return { ...child, state: "ended", end: { ...end, at: child.end?.at ?? now }, reply };
}
