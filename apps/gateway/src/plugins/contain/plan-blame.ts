// Decides whose doing it is that a gateway answers nobody, and whom nothing singles out.

export interface Frame {
  functionName: string;
  line: number;
  /** Null: it is in no file, as what was made from text. "node:…": it is Node's own. */
  path: string | null;
  /** False: what the file holds is other code than this. */
  isOfFile: boolean;
}

/** What is known of a halted process. */
export interface Halted {
  /** Innermost first. */
  frames: readonly Frame[];
  /** In whose async context it was halted. Null: in nobody's. */
  context: string | null;
}

export type Blame =
  /** Clew itself works for so long. */
  | { kind: "ours" }
  | { kind: "one"; plugin: string }
  /** One of these, or several; nothing shows which. */
  | { kind: "some"; plugins: readonly string[] };

/** Whose files are where. */
export interface Files {
  /** Undefined: no plugin's. */
  pluginAt(path: string): string | undefined;
  isOurs(path: string): boolean;
}

const one = (plugin: string): Blame => ({ kind: "one", plugin });

/**
 * Pure. Whose code it is counts first, whoever began it; a name that code gave itself counts only
 * if the context says the same. `called`: whom the gateway calls at this moment. `ran`: all that
 * could be at fault.
 */
export function planBlame(
  { frames, context }: Halted,
  { called, ran }: { called: string | null; ran: readonly string[] },
  { pluginAt, isOurs }: Files,
): Blame {
  const inFiles = frames.filter(({ path }) => path !== null && !path.startsWith("node:"));
  const [nearest] = inFiles;
  const owner = nearest && pluginAt(nearest.path!);
  if (owner !== undefined && (nearest!.isOfFile || owner === context)) return one(owner);
  if (owner !== undefined)
    return { kind: "some", plugins: context === null ? ran : [owner, context] };
  if (context !== null) return one(context);
  const below = inFiles.find(({ path, isOfFile }) => isOfFile && pluginAt(path!) !== undefined);
  if (below !== undefined) return one(pluginAt(below.path!)!);
  if (called !== null) return one(called);
  const isMadeOfText = frames[0]?.path === null;
  const isOurCode = !isMadeOfText && inFiles.some(({ path }) => isOurs(path!));
  return isOurCode || ran.length === 0 ? { kind: "ours" } : { kind: "some", plugins: ran };
}
