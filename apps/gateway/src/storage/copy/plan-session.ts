// Decides for one session what a copy from files into a database does.

/** A session by its names. */
export interface Names {
  key: string;
  /** What people call it; null: nothing. */
  label: string | null;
}

/** What a home has of a session. */
export interface InFiles extends Names {
  /** Of all its files. */
  print: string;
  /** How many entries its transcript has. */
  head: number;
}

/** What the database has of it. */
export interface InDatabase extends Names {
  step: number;
  head: number;
}

/** What both had when it was copied last; the names are those in files. */
export interface Copied extends Names {
  print: string;
  step: number;
}

/** How many of the first entries are the same on both sides. */
export type Common = number;

export type SessionPlan =
  /** Nothing is to be done: both have the same. */
  | { kind: "same" }
  /** The database went on, and the files did not. */
  | { kind: "ahead" }
  /** It was removed from the database after it was copied. */
  | { kind: "removed" }
  /** Entries behind `stored` are to be stored; `names` is what it is called then. */
  | { kind: "copy"; stored: number; names: Names; isKnown: boolean }
  /** Each side has something that the other one lacks. */
  | { kind: "conflict"; why: "both" | "names" };

export interface SessionSides {
  files: InFiles;
  /** Null: it is not there. */
  database: InDatabase | null;
  /** Of this home, or of another one; null: it was never copied. */
  copied: Copied | null;
  /** Asked only where it decides. */
  common: Common;
}

/** Pure. Nothing that only one side has is ever written over. */
export function planSession({ files, database, copied, common }: SessionSides): SessionPlan {
  if (database === null) {
    if (copied !== null) return { kind: "removed" };
    const { key, label } = files;
    return { kind: "copy", stored: 0, names: { key, label }, isKnown: false };
  }
  const names = mergeNames({ files, database, copied });
  if (names === null) return { kind: "conflict", why: "names" };
  const areFilesSame = copied?.print === files.print;
  const isDatabaseSame = copied?.step === database.step;
  const isRenamed = names.key !== database.key || names.label !== database.label;
  if (areFilesSame && !isRenamed) return { kind: isDatabaseSame ? "same" : "ahead" };
  // What the database has is the beginning of what the files have.
  if (common === database.head)
    return { kind: "copy", stored: database.head, names, isKnown: isDatabaseSame };
  if (common === files.head && !isRenamed) return { kind: "ahead" };
  return { kind: "conflict", why: "both" };
}

/** True: whether the first entries are the same decides. */
export const needsCommon = ({ files, database, copied }: Omit<SessionSides, "common">): boolean =>
  database !== null && !(copied?.print === files.print && copied.step === database.step);

/** Null: both sides gave it another name than it had. */
function mergeNames({
  files,
  database,
  copied,
}: {
  files: Names;
  database: Names;
  copied: Names | null;
}): Names | null {
  const key = merged(files.key, database.key, copied?.key);
  const label = merged(files.label, database.label, copied?.label);
  return key === undefined || label === undefined ? null : { key, label };
}

/** The one that is new; undefined: both are. Where nobody knows, a name is newer than none. */
function merged<Value extends string | null>(
  file: Value,
  stored: Value,
  before: Value | undefined,
): Value | undefined {
  if (file === stored || stored === before) return file;
  if (file === before) return stored;
  if (before !== undefined) return undefined;
  return stored === null ? file : file === null ? stored : undefined;
}
