// Makes the summaries that are due in a session, and asks a model for their words.
import { asFarAsPossible, patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import type { Store } from "../store/store.ts";
import { coverageOf } from "../store/summaries.ts";
import { growGraph } from "./grow.ts";
import type { Spending } from "./spending.ts";
import { addWords, type WordsOptions } from "./words.ts";

/** Who says in words what was done. */
export interface SessionOptions {
  /** Absent: no model is asked. */
  readonly complete?: WordsOptions["complete"] | undefined;
  readonly spending?: Spending | undefined;
  /** Of one call, ms. Absent: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** After each answer of the model is stored. Absent: nobody waits for that. */
  readonly onWords?: WordsOptions["onWords"];
  /** How long making summaries may take in all, ms. Absent: as long as it takes. */
  readonly boundMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A database that is in use keeps them waiting. */
export async function growSession(
  store: Store,
  session: OwnedSession,
  options: SessionOptions = {},
): Promise<void> {
  const { complete, spending, timeoutMs, onWords, boundMs, signal } = options;
  const coverage = await patiently(() => coverageOf(store, session), signal);
  if (coverage === undefined) return;
  const { conversation } = coverage;
  await asFarAsPossible(async () => {
    await growGraph(store, conversation, { boundMs, signal });
    if (complete !== undefined && spending !== undefined)
      await addWords(store, conversation, { complete, spending, timeoutMs, onWords, signal });
  });
}
