// Refuses every model but the one in this process, for sessions that are played.
import type { ModelPort } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { LOCAL_API } from "./resolve.ts";

const WHY = "A session that is played calls no model.";

/** The same port, of which nothing goes over the network. */
export function offlineOnly(port: ModelPort): ModelPort {
  return {
    ...port,
    stream: (call) => (call.model.api === LOCAL_API ? port.stream(call) : refusal()),
    async complete(call) {
      if (call.model.api === LOCAL_API) return port.complete(call);
      return { ok: false, error: refused(), partial: nothing() };
    },
  };
}

async function* refusal() {
  yield { type: "error" as const, error: refused(), partial: nothing() };
}

const refused = (): ModelError => ({ kind: "unavailable", message: WHY });

const nothing = (): AssistantMessage => ({
  ...{ role: "assistant", content: [], stopReason: "error", errorMessage: WHY },
});
