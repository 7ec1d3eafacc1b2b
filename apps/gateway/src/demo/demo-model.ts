// Answers the demo's calls as a provider would that caches, counts and refuses.
import type { ModelPort } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import { withCost } from "../costs/cost.ts";
import type { Prices } from "../costs/prices.ts";
import type { PlayedCache } from "../replay/prompt-cache.ts";
import type { Incident } from "./story.ts";

interface DemoModelRequest {
  /** What was recorded. */
  played: ModelPort;
  cache: PlayedCache;
  /** Null: not known. */
  prices: Prices | null;
  incident: Incident | null;
  now: () => number;
}

/** `incident`: the second call of the turn is refused once, as too large. */
export function createDemoModel(asked: DemoModelRequest): ModelPort {
  const { played, cache, prices, incident, now } = asked;
  let call = 0;
  return {
    ...played,
    async *stream(request: ModelCall): AsyncGenerator<StreamEvent> {
      call++;
      if (incident === "request-too-large" && call === 2) return yield refusal(request);
      for await (const event of played.stream(request)) {
        if (event.type !== "done") yield event;
        else {
          const output = event.message.usage?.output ?? 0;
          const usage = cache.usage(request, output, now());
          const { provider, api, id } = request.model;
          const message = { ...event.message, usage, provider, api, model: id };
          yield { ...event, message: withCost(message, request, prices) };
        }
      }
    },
  };
}

/** As a provider says it whose model holds less than was thought. */
function refusal({ model, messages }: ModelCall): StreamEvent {
  const message = `prompt is too long: ${messages.length} messages exceed the limit of this model`;
  const partial: AssistantMessage = {
    ...{ role: "assistant", content: [], stopReason: "error", errorMessage: message },
    ...{ provider: model.provider, model: model.id },
  };
  return { type: "error", error: { kind: "overflow", message }, partial };
}
