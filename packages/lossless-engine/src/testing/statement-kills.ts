// Keeps what a database would be if its process were killed before each of its statements.
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { temporaryFolder } from "./temporary-folder.ts";

/** What a process leaves behind: what it wrote is the system's, what it locked is free again. */
const LEFT_BEHIND = ["", "-wal"];

/**
 * Does `work`, and copies the database before each statement of it. Gives the paths of the copies,
 * oldest first: what stands there is what the next process finds.
 */
export function killedBeforeEachStatement(path: string, work: () => void): string[] {
  const { copies, end } = copyingBeforeEachStatement(path);
  try {
    work();
  } finally {
    end();
  }
  return copies;
}

/**
 * The same for work that takes its time. Gives folders of agents, each with a copy where an engine
 * looks for it.
 */
export async function killedBeforeEachStatementOf(
  path: string,
  work: () => unknown,
): Promise<string[]> {
  const { copies, end } = copyingBeforeEachStatement(path);
  try {
    await work();
  } finally {
    end();
  }
  return copies.map((copy) => join(copy, "../.."));
}

function copyingBeforeEachStatement(path: string): { copies: string[]; end(): void } {
  const folder = temporaryFolder();
  const copies: string[] = [];
  const copy = () => {
    const copied = join(folder, String(copies.length), "clew-lossless", "lossless.db");
    mkdirSync(join(copied, ".."), { recursive: true });
    for (const suffix of LEFT_BEHIND)
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copied + suffix);
    copies.push(copied);
  };
  const restore = [
    ...(["run", "get", "all"] as const).map((name) => before(StatementSync.prototype, name, copy)),
    before(DatabaseSync.prototype, "exec", copy),
  ];
  return {
    copies,
    end() {
      for (const back of restore) back();
      copy();
    },
  };
}

function before<Name extends string>(
  of: { [name in Name]: (...args: never[]) => unknown },
  name: Name,
  act: () => void,
): () => void {
  const original = of[name];
  of[name] = function (this: unknown, ...args: never[]) {
    act();
    return original.apply(this, args);
  };
  return () => {
    of[name] = original;
  };
}
