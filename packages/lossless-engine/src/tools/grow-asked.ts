// Makes the summaries that an answer needs, as far as there is time.
import { asFarAsPossible, patiently } from "../patiently.ts";
import { conversationsIn, type Scope } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import { growGraph } from "../summaries/grow.ts";

/** How long an answer waits, ms. */
const BOUND_MS = 2_000;

/** What the answer has to say of those that are missing; nothing where none is. */
export async function growAsked(
  store: Store,
  { scope, signal }: { scope: Scope; signal?: AbortSignal | undefined },
): Promise<string> {
  const end = performance.now() + BOUND_MS;
  const conversations = scope ?? (await patiently(() => conversationsIn(store), signal));
  for (const conversation of conversations) {
    const boundMs = end - performance.now();
    let isDone = false;
    await asFarAsPossible(async () => {
      isDone = await growGraph(store, conversation, { boundMs, signal });
    });
    if (!isDone) return " Not all of it is summarised yet; ask again.";
  }
  return "";
}
