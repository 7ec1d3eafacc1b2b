// What a Responses server remembers of items, reasoning and prompts.
import { tokensIn } from "../server/bill.ts";
import { divergence, type Fingerprint } from "../server/cache-miss.ts";
import { canonical, first, record, text } from "../server/json.ts";
import type { PromptCache, Segment } from "../server/prompt-cache.ts";
import { seal, unseal } from "../server/seal.ts";
import type { Accepted, Call, Examined, WireMemory } from "../server/wire.ts";
import { marksCache } from "./models.ts";
import { notStored } from "./rules/items.ts";
import { type ItemAt, inputOf, type ResponsesView } from "./view.ts";

export interface ResponsesAccepted extends Accepted {
  /** Encrypts reasoning for the account that asks. */
  encrypt(words: string): string;
  /** Remembers an item by its id, if the request wants items stored. */
  store(id: string): void;
  /** As asked, to compare the next request with. */
  view: ResponsesView;
  /** Why the cache could not be used; undefined: the request does not ask. */
  diagnostics: object | undefined;
  /** Remembers which reasoning a call came from. */
  bind(callItem: string, reasoningItem: string): void;
}

/** As real ones begin. */
const CIPHER = "gAAAAA";

/** OpenAI's wires share their models, so what one encrypts the other reads. */
const API = "openai";

export function createMemory(cache: PromptCache): WireMemory<ResponsesView, ResponsesAccepted> {
  const stored = new Set<string>();
  /** By id of the response that answered. */
  const sent = new Map<string, ResponsesView>();
  const reasonOf = new Map<string, string>();

  const faultOf = (view: ResponsesView, { account }: Call): Refusal | undefined => {
    const { items, reasoning, calls } = view;
    const unreadable = reasoning.find((item) => {
      const cipher = item.value.encrypted_content;
      return typeof cipher === "string" && ownerOf(cipher) !== account;
    });
    if (unreadable !== undefined) return unverifiable(unreadable);
    const lost = first(
      items.filter(refersToStore),
      (item) => !stored.has(idOf(item)),
      (item) => notStored(idOf(item)),
    );
    if (lost !== undefined)
      return { kind: "refused", rule: "reasoning.not_stored", message: lost, status: 404 };
    const given = new Set(items.map(idOf));
    const alone = calls.find((call) => {
      const reason = reasonOf.get(idOf(call));
      return reason !== undefined && !given.has(reason);
    });
    return alone === undefined ? undefined : withoutReasoning(alone, reasonOf.get(idOf(alone))!);
  };

  return {
    said(_reply, { accepted, nonce }) {
      if (accepted !== null) sent.set(responseId(nonce), accepted.view);
    },
    examine(view, call): Examined<ResponsesAccepted> {
      const fault = faultOf(view, call);
      if (fault !== undefined) return fault;
      const { body, model } = view;
      const key = text(body.prompt_cache_key);
      const prompt = cache.settle(
        `${call.account} ${model} ${key}`,
        segmentsOf(view),
        marksCache(model) ? { writes: "marked", keepMs: 30 * 60_000, lookback: 80 } : {},
      );
      const accepted = {
        prompt,
        view,
        diagnostics: diagnose(view, sent),
        encrypt: (words: string) =>
          CIPHER +
          seal({
            api: API,
            account: call.account,
            model,
            content: words,
            prefix: "",
            previous: null,
          }),
        store: (id: string) => {
          if (body.store !== false) stored.add(id);
        },
        bind: (callItem: string, reasoningItem: string) =>
          void reasonOf.set(callItem, reasoningItem),
      };
      return { kind: "accepted", accepted };
    },
  };
}

export const responseId = (nonce: string): string => `resp_${nonce}`;

function fingerprintOf(view: ResponsesView): Fingerprint {
  const { body, model } = view;
  const { format, verbosity } = record(body.text);
  return {
    fields: [
      ["model", model],
      ["prompt_cache_key", text(body.prompt_cache_key)],
      ["tools", canonical(body.tools ?? [])],
      ["text_format", canonical(format ?? "")],
      ["reasoning_effort", text(record(body.reasoning).effort)],
      ["verbosity", text(verbosity)],
      ["service_tier", text(body.service_tier)],
    ],
    pieces: [text(body.instructions), ...inputOf(view)].map((piece) => {
      const content = canonical(piece);
      return { content, tokens: tokensIn(content.length) };
    }),
  };
}

function diagnose(
  view: ResponsesView,
  sent: ReadonlyMap<string, ResponsesView>,
): object | undefined {
  const { comparison_response_id: compared } = record(view.body.prompt_cache_options);
  if (typeof compared !== "string") return undefined;
  const before = sent.get(compared);
  if (before === undefined) return { type: "comparison_response_not_found" };
  const found = divergence(fingerprintOf(before), fingerprintOf(view));
  if (found === undefined) return { type: "cache_hit" };
  const reason = `${found.where === "pieces" ? "input" : found.where}_changed`;
  return { type: "cache_miss", reason, cache_missed_tokens: found.missedTokens };
}

type Refusal = Extract<Examined<never>, { kind: "refused" }>;

const idOf = ({ value }: ItemAt) => text(value.id);

/** Without its content an item is but a name. */
const refersToStore = (item: ItemAt) =>
  item.type === "item_reference" ||
  (item.type === "reasoning" && item.value.encrypted_content == null);

const ownerOf = (cipher: string): string | undefined => {
  const sealed = cipher.startsWith(CIPHER) ? unseal(cipher.slice(CIPHER.length)) : undefined;
  return sealed?.api === API ? sealed.account : undefined;
};

const unverifiable = ({ value }: ItemAt): Refusal => ({
  kind: "refused",
  rule: "encrypted_content",
  message: `The encrypted content ${text(value.encrypted_content).slice(0, 12)}... could not be verified.`,
});

const withoutReasoning = (call: ItemAt, reasoning: string): Refusal => ({
  kind: "refused",
  rule: "reasoning.missing",
  message: `Item '${idOf(call)}' of type 'function_call' was provided without its required 'reasoning' item: '${reasoning}'.`,
});

/** What is marked, or the request's own last words unless it marks for itself only. */
const TTL_MS: Readonly<Record<string, number>> = { "30m": 30 * 60_000, "12h": 12 * 3_600_000 };

/** Tools, instructions, items. */
export function segmentsOf(view: ResponsesView): Segment[] {
  const { body } = view;
  const options = record(body.prompt_cache_options);
  const usual = TTL_MS[text(options.ttl)] ?? TTL_MS["30m"]!;
  const pieces = [body.tools ?? [], text(body.instructions), ...inputOf(view)];
  const segments = pieces.map((piece): Segment => {
    const mark = markIn(piece);
    const content = canonical(piece);
    return {
      content,
      tokens: tokensIn(content.length),
      ...(mark !== undefined && { keepMs: TTL_MS[text(mark.ttl)] ?? usual }),
    };
  });
  const last = segments.at(-1)!;
  const isImplicit = options.mode !== "explicit";
  return [...segments.slice(0, -1), { ...(isImplicit && { keepMs: usual }), ...last }];
}

/** A mark inside an item ends there; here the whole item is kept. */
function markIn(piece: unknown) {
  const { content } = record(piece);
  const marked = (Array.isArray(content) ? content : []).findLast(
    (part) => record(part).prompt_cache_breakpoint != null,
  );
  return marked === undefined ? undefined : record(record(marked).prompt_cache_breakpoint);
}
