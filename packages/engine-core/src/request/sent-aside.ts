// Keeps what each model was last asked, for when a session comes back to it.
import type { SentRequest } from "./predict-cache.ts";
import { type RequestMemory, tokensAmong } from "./request-items.ts";

/** A model's last answered request, and the hashes of its messages. */
interface AsideRequest {
  sent: SentRequest;
  hashes: readonly string[];
}

/** By the models' names; those that were set aside longest ago come first. */
export type SentAside = Map<string, AsideRequest>;

/** Providers forget sooner than a session comes back to its ninth model. */
const MOST_MODELS = 8;

/** Before another model is asked: `memory` still holds the request that was answered. */
export function setAside(
  aside: SentAside,
  sent: SentRequest | undefined,
  { next, memory }: { next: string; memory: RequestMemory },
): void {
  // What was described since, and not answered, is not what the model's cache holds.
  if (sent === undefined || aside.get(sent.model)?.sent === sent) return;
  aside.delete(sent.model);
  if (sent.model === next) return;
  const hashes = memory.items.slice(0, sent.messages).map(({ hash }) => hash);
  aside.set(sent.model, { sent, hashes });
  for (const oldest of aside.keys()) if (aside.size > MOST_MODELS) aside.delete(oldest);
}

/** What the described request shares with that one, as `shared` of its description tells it. */
export function keptOf({ hashes }: AsideRequest, { items, tokens }: RequestMemory) {
  const limit = Math.min(hashes.length, items.length);
  let kept = 0;
  while (kept < limit && hashes[kept] === items[kept]!.hash) kept++;
  const moved = tokensAmong(items.slice(kept), hashes.slice(kept));
  return { messages: kept, tokens: tokens[kept - 1] ?? 0, moved };
}
