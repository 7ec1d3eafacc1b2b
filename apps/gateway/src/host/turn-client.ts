// What a client of the door brings into a turn.
import type { ModelPort, ToolPort } from "@clew/engine-core";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";

export interface TurnClient {
  /** Which tools of the agent are offered beside the client's. */
  ownTools: "all" | "recall" | "none";
  /** Those that it runs itself. */
  tools: ToolPort;
  /** Follows the agent's system prompt; "" = nothing does. */
  system: string;
  /** The call with what the client asks of it. */
  ask(call: ModelCall): ModelCall;
  /** Resolves when somebody hears what the model has said, or nobody will. */
  attended(signal: AbortSignal | undefined): Promise<void>;
}

/** A tool of the client's hides one of the agent's that has its name. */
export function withClientTools(own: ToolPort, { tools }: Pick<TurnClient, "tools">): ToolPort {
  return {
    list(session) {
      const clients = tools.list(session);
      const names = new Set(clients.map(({ name }) => name));
      return [...clients, ...own.list(session).filter(({ name }) => !names.has(name))];
    },
    run(request) {
      const isClients = tools.list(request.session).some(({ name }) => name === request.call.name);
      return (isClients ? tools : own).run(request);
    },
  };
}

/** Replies are asked for as the client wants them; what engines ask stays theirs. */
export const withClientAsk = (
  model: ModelPort,
  client: Pick<TurnClient, "ask" | "attended">,
): ModelPort => ({
  ...model,
  stream: (call) =>
    whenAttended(model.stream(client.ask(call)), () => client.attended(call.signal)),
});

/** Nothing comes of a reply before somebody hears it. */
async function* whenAttended(
  events: AsyncIterable<StreamEvent>,
  attended: () => Promise<void>,
): AsyncGenerator<StreamEvent> {
  for await (const event of events) {
    if (event.type === "done") await attended();
    yield event;
  }
}
