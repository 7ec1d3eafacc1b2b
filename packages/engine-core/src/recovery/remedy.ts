// What is sent differently because a provider refused something, and how that is remembered.
import type { CallAsk, ModelError, ModelRef, RefusedParts } from "@clew/plugin-sdk/host";
import { isRecord, type ModelProfile, modelProfile } from "@clew/plugin-sdk/host";
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";

/**
 * One change of what is sent. "without-proofs": signatures, encrypted thoughts and opaque blocks
 * made until then stay out · "calls-as-text": so do proofs, and calls are told as text ·
 * "reasoning-back": thinking goes back with every call · "without-reasoning": none goes back ·
 * "without-thinking": none is asked for · "without-cache": nothing is asked of the prompt cache.
 */
export type Remedy =
  | { kind: "without-proofs" | "calls-as-text"; until: number }
  | { kind: "reasoning-back" | "without-reasoning" | "without-thinking" | "without-cache" };

/** A remedy that helped, as the session remembers it. */
export interface RemedyRecord {
  /** "provider/model" that it is for. */
  model: string;
  /** What it refused. */
  because: ModelError["kind"];
  remedy: Remedy;
}

/** `customType` of the entry that remembers one. */
const REMEDY_RECORD = "clew-remedy";

export const remedyEntry = (record: RemedyRecord): NewTranscriptEntry => ({
  type: "custom",
  customType: REMEDY_RECORD,
  data: record,
});

/** What a session remembers of a model; records that make no sense are passed over. */
export const remediesIn = (branch: readonly TranscriptEntry[], model: string): readonly Remedy[] =>
  branch.flatMap((entry) => {
    if (entry.type !== "custom" || entry.customType !== REMEDY_RECORD) return [];
    const { data } = entry;
    return isRecord(data) && data.model === model && isRemedy(data.remedy) ? [data.remedy] : [];
  });

const UNTIL: ReadonlySet<unknown> = new Set(["without-proofs", "calls-as-text"]);
const ALWAYS: ReadonlySet<unknown> = new Set([
  "reasoning-back",
  "without-reasoning",
  "without-thinking",
  "without-cache",
]);

const isRemedy = (value: unknown): value is Remedy =>
  isRecord(value) &&
  (ALWAYS.has(value.kind) || (UNTIL.has(value.kind) && typeof value.until === "number"));

/** What of the history stays out, or is told as text. */
export function refusedParts(remedies: readonly Remedy[]): RefusedParts {
  const latest = (...kinds: Remedy["kind"][]) =>
    remedies.reduce<number | undefined>(
      (until, remedy) =>
        "until" in remedy && kinds.includes(remedy.kind)
          ? Math.max(until ?? remedy.until, remedy.until)
          : until,
      undefined,
    );
  const proofsUntil = latest("without-proofs", "calls-as-text");
  const callsUntil = latest("calls-as-text");
  return {
    ...(proofsUntil !== undefined && { proofsUntil }),
    ...(callsUntil !== undefined && { callsUntil }),
  };
}

/** What a call asks besides its messages, without what was refused. */
export function remediedAsk(ask: CallAsk, remedies: readonly Remedy[]): CallAsk {
  const has = (kind: Remedy["kind"]) => remedies.some((remedy) => remedy.kind === kind);
  return {
    ...ask,
    ...(has("without-cache") && { cache: { retention: "none" as const } }),
    ...(has("without-thinking") && { reasoning: { effort: "off" as const } }),
  };
}

/** The model as it proved to be; the same object for the same model and remedies. */
export function remediedModel(model: ModelRef, remedies: readonly Remedy[]): ModelRef {
  const replay = remedies.reduce<"require" | "strip" | undefined>(
    (found, { kind }) =>
      kind === "reasoning-back" ? "require" : kind === "without-reasoning" ? "strip" : found,
    undefined,
  );
  if (replay === undefined) return model;
  const profile = profileOf(model);
  // What a model requires was never refused for good, whatever an older version remembered.
  const isKept = replay === "strip" && profile.reasoning.replay === "require";
  return isKept ? model : { ...model, profile: replaying(profile, replay) };
}

export const profileOf = ({ provider, api, id, reasoning, profile }: ModelRef): ModelProfile =>
  profile ?? modelProfile({ provider, api, id, ...(reasoning !== undefined && { reasoning }) });

const changed = new WeakMap<ModelProfile, Map<string, ModelProfile>>();

/** The same object each time, by which drivers and policies recognise what they wrote before. */
function replaying(profile: ModelProfile, replay: "require" | "strip"): ModelProfile {
  const known = changed.get(profile) ?? new Map<string, ModelProfile>();
  changed.set(profile, known);
  const made = known.get(replay) ?? {
    ...profile,
    reasoning: { ...profile.reasoning, replay },
  };
  known.set(replay, made);
  return made;
}
