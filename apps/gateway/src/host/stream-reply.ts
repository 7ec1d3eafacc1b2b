// Asks a model in no session.
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import type { HostParts } from "./parts.ts";

export async function* streamReply(
  { policy, models }: Pick<HostParts, "policy" | "models">,
  call: ModelCall,
): AsyncGenerator<StreamEvent> {
  const { model } = call;
  const { messages } = await policy.sanitizeHistory({ messages: call.messages, model, branch: [] });
  const outbound = policy.prepareOutbound({ messages, model });
  yield* models.port.stream({ ...call, messages: outbound.messages });
}
