// Holds the session of a chat in the gateway of its home.
import type { GatewayLookup, OwnGateway } from "../../gateway-client.ts";
import type { ChatPort } from "./port.ts";

export interface GatewayPortOptions {
  gateway: OwnGateway;
  /** The gateway of the home as it is now: a restarted one has another secret. */
  find(): Promise<GatewayLookup>;
  /** Absolute; where paths of files begin. */
  folder: string;
}

export function throughGateway({ gateway: first, find, folder }: GatewayPortOptions): ChatPort {
  let gateway = first;
  /** What was sent to one that is gone has reached nobody. */
  const fetch: ChatPort["fetch"] = async (path, init) => {
    const answer = await gateway.fetch(path, init).catch((error: unknown) => error as Error);
    const isAnswer = answer instanceof Response;
    if ((isAnswer && answer.status !== 403) || init?.signal?.aborted === true)
      return answerOrThrow(answer);
    const found = isAnswer || isUnreached(answer) ? await find() : undefined;
    if (found?.kind !== "running") return answerOrThrow(answer);
    gateway = found.gateway;
    return gateway.fetch(path, init);
  };
  return {
    ...{ fetch, folder, place: first.url },
    async answer(id, answer) {
      const path = `/api/approvals/${encodeURIComponent(id)}/${answer}?from=chat`;
      const answered = await fetch(path, { method: "POST" });
      if (answered.ok) return null;
      const body = (await answered.json().catch(() => null)) as { error?: { message?: string } };
      return body?.error?.message ?? `The gateway answered ${answered.status}.`;
    },
    // It has seen to that itself.
    resume: async () => 0,
    // What runs in it goes on.
    close: async () => {},
  };
}

function answerOrThrow(answer: Response | Error): Response {
  if (answer instanceof Response) return answer;
  throw answer;
}

const isUnreached = (error: Error) => (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
