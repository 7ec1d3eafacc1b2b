// Finds the file that a function was written in.
import { Session } from "node:inspector";

const NAME = "clew.function-asked-about";
const ASKED = Symbol.for(NAME);
// Not by a name that others may give to something else.
const EXPRESSION = `this[Symbol.for(${JSON.stringify(NAME)})]`;
const slots = globalThis as { [ASKED]?: unknown };

/** Each look lists all scripts to the debugger, which takes some milliseconds. */
let looksLeft = 100;

/**
 * Addresses, in the order of what is asked about. Undefined: it is no function, or of no file, as
 * one that was bound or came with the language.
 */
export function filesOfFunctions(asked: readonly unknown[]): (string | undefined)[] {
  const nothing = asked.map(() => undefined);
  if (looksLeft === 0 || !asked.some((each) => typeof each === "function")) return nothing;
  looksLeft -= 1;
  const session = new Session();
  try {
    session.connect();
    const urls = new Map<string, string>();
    session.on("Debugger.scriptParsed", ({ params }) => void urls.set(params.scriptId, params.url));
    session.post("Debugger.enable");
    return asked.map((each) => {
      const scriptId = typeof each === "function" ? scriptOf(session, each) : undefined;
      return scriptId === undefined ? undefined : urls.get(scriptId);
    });
  } catch {
    // A debugger may forbid it.
    return nothing;
  } finally {
    session.disconnect();
    delete slots[ASKED];
  }
}

/** A session with the own thread answers at once. */
function scriptOf(session: Session, asked: unknown): string | undefined {
  let objectId: string | undefined;
  let scriptId: string | undefined;
  slots[ASKED] = asked;
  session.post("Runtime.evaluate", { expression: EXPRESSION }, (_, answer) => {
    objectId = answer?.result.objectId;
  });
  if (objectId === undefined) return undefined;
  session.post("Runtime.getProperties", { objectId, ownProperties: true }, (_, answer) => {
    const place = answer?.internalProperties?.find(({ name }) => name === "[[FunctionLocation]]");
    scriptId = (place?.value?.value as { scriptId?: string } | undefined)?.scriptId;
  });
  return scriptId;
}
