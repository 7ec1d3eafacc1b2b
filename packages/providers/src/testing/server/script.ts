// Reads the answers of an emulator from JSON, and says what in them it does not know.
import type { EmulatorFault } from "./fault.ts";
import type { EmulatorAnswer } from "./options.ts";
import type { EmulatedReply } from "./reply.ts";

type FieldsOf<Fault> = Fault extends { fault: string } ? keyof Omit<Fault, "fault"> : never;

/** What may stand beside each fault. */
const FAULT_FIELDS: {
  readonly [Name in EmulatorFault["fault"]]: readonly FieldsOf<
    Extract<EmulatorFault, { fault: Name }>
  >[];
} = {
  status: ["status", "headers", "body"],
  overflow: ["window", "observedTokens"],
  "rate-limit": ["retryAfterMs"],
  refusal: ["message", "code", "status"],
  overloaded: [],
  html: ["status"],
  redirect: ["status", "location"],
  error: ["text", "message"],
  cut: ["text"],
  unfinished: ["text"],
  truncated: ["text"],
  malformed: ["text"],
  hang: ["text"],
  empty: [],
  bomb: ["bytes"],
};

/** What a fault cannot do without. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  status: ["status"],
  overflow: ["window"],
  refusal: ["message"],
};

const REPLY_FIELDS = [
  "text",
  "thinking",
  "toolCalls",
  "blocks",
  "finishReason",
  "usage",
  "chunkChars",
  "pauseMs",
] as const satisfies readonly (keyof EmulatedReply)[];

/** `value`: parsed JSON. Throws one sentence that names the place and what may stand there. */
export function readEmulatorScript(value: unknown): readonly EmulatorAnswer[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new Error(
      'A script is a JSON list of answers, for example [{"text":"Hello."},{"fault":"overloaded"}].',
    );
  for (const [place, answer] of value.entries()) {
    const flaw = flawOf(answer);
    if (flaw !== undefined) throw new Error(`Answer ${place + 1} of the script ${flaw}.`);
  }
  return value as readonly EmulatorAnswer[];
}

function flawOf(answer: unknown): string | undefined {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    return 'is no object; write for example {"text":"Hello."}';
  if (!("fault" in answer)) return strangerIn(answer, REPLY_FIELDS, "a reply");
  const { fault } = answer;
  if (typeof fault !== "string" || !Object.hasOwn(FAULT_FIELDS, fault))
    return `names an unknown fault ${JSON.stringify(fault)}; there are: ${Object.keys(FAULT_FIELDS).join(", ")}`;
  const missing = (NEEDED[fault] ?? []).find((field) => !(field in answer));
  if (missing !== undefined) return `lacks "${missing}", which the fault "${fault}" needs`;
  const fields: readonly string[] = FAULT_FIELDS[fault as EmulatorFault["fault"]];
  return strangerIn(answer, ["fault", ...fields], `the fault "${fault}"`);
}

function strangerIn(answer: object, known: readonly string[], what: string): string | undefined {
  const stranger = Object.keys(answer).find((field) => !known.includes(field));
  return stranger === undefined
    ? undefined
    : `has an unknown field "${stranger}"; ${what} may have: ${known.join(", ")}`;
}
