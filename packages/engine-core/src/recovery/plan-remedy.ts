// Decides what is sent differently after a provider refused something about a request.
import type { ModelError, ModelProfile } from "@clew/plugin-sdk/host";
import type { Remedy } from "./remedy.ts";

/** What is known of a refused call. */
export interface RemedyFacts {
  /** Of the model that refused. */
  profile: ModelProfile;
  /** When it did, ms since the epoch. */
  at: number;
  /** What was in force, or tried in vain, since the last reply. */
  tried: readonly Remedy["kind"][];
}

/** The one change that answers a refusal; undefined where there is none, or it was tried. */
export function planRemedy(
  { kind }: Pick<ModelError, "kind">,
  { profile, at, tried }: RemedyFacts,
): Remedy | undefined {
  const remedy = remedyFor(kind, profile, at);
  return remedy === undefined || tried.includes(remedy.kind) ? undefined : remedy;
}

function remedyFor(
  kind: ModelError["kind"],
  { reasoning: { carrier, replay, canStop } }: ModelProfile,
  at: number,
): Remedy | undefined {
  const isPlain = carrier === "reasoning_content" || carrier === "reasoning";
  switch (kind) {
    case "signature":
      if (!isPlain) return { kind: "without-proofs", until: at };
      // A server that takes no reasoning back takes none of the next reply either. One that wants
      // it behind every call is told calls as text.
      return replay === "require"
        ? { kind: "calls-as-text", until: at }
        : { kind: "without-reasoning" };
    case "encrypted_content":
      return { kind: "without-proofs", until: at };
    case "pairing":
      return { kind: "calls-as-text", until: at };
    case "reasoning_required":
      if (isPlain && replay !== "require") return { kind: "reasoning-back" };
      // Calls that are text need no reasoning behind them.
      return carrier === "signed" && canStop
        ? { kind: "without-thinking" }
        : { kind: "calls-as-text", until: at };
    case "cache_rejected":
      return { kind: "without-cache" };
    default:
      return undefined;
  }
}
