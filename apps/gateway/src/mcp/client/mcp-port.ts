// Offers the tools of servers beside others for one turn.
import type { HostSession, ToolPort, ToolServerNote } from "@clew/engine-core";
import { type ApprovalEnd, describeEnd, isAllowed } from "../../approvals/approval.ts";
import { type Approve, notAllowed } from "../../tools/tool.ts";
import type { McpTools } from "./mcp-tools.ts";
import type { OfferedTool } from "./offered-tools.ts";

export interface McpPortRequest {
  /** The other tools; they keep their names. */
  base: ToolPort;
  /** Those of the settings, and of a session's own servers. */
  sources: readonly McpTools[];
  /** Undefined: nobody can be asked, so the answer is no. */
  approve?: Approve | undefined;
}

export interface McpPort extends ToolPort {
  refresh(request: { session: HostSession; signal: AbortSignal }): Promise<void>;
  /** Has news told from now on, once each; without it they wait for another turn. */
  listen(listener: (note: ToolServerNote) => void): void;
}

interface Offer {
  source: McpTools;
  offered: OfferedTool;
}

const NOBODY: ApprovalEnd = { kind: "nobody" };

/**
 * The list stays as it is until it is brought up to date before a request: what a model calls is
 * what it was offered, whatever its server did since.
 */
export function createMcpPort({ base, sources, approve }: McpPortRequest): McpPort {
  let offers: readonly Offer[] | undefined;
  let listener: ((note: ToolServerNote) => void) | undefined;
  const look = (session: HostSession): readonly Offer[] => {
    const taken = new Set(base.list(session).map(({ name }) => name));
    const found: Offer[] = [];
    for (const source of sources)
      for (const offered of source.list(session)) {
        const { name } = offered.definition;
        if (taken.has(name)) continue;
        taken.add(name);
        found.push({ source, offered });
      }
    return found;
  };
  const frozen = (session: HostSession) => {
    offers ??= look(session);
    return offers;
  };
  return {
    list: (session) => [
      ...base.list(session),
      ...frozen(session).map(({ offered }) => offered.definition),
    ],
    async refresh(request) {
      const { session } = request;
      await Promise.all(sources.map((source) => source.refresh(request)));
      offers = look(session);
      if (listener !== undefined)
        for (const source of sources) for (const note of source.news(session)) listener(note);
    },
    listen(next) {
      listener = next;
    },
    async run(request) {
      const { call, session, signal } = request;
      const offer = frozen(session).find(({ offered }) => offered.definition.name === call.name);
      if (offer === undefined) return base.run(request);
      const { source, offered } = offer;
      if (offered.runsUnasked) return source.call(offered, call.arguments, signal);
      const asker = { kind: "mcp", id: offered.server } as const;
      const end = (await approve?.({ asker, call, session, signal })) ?? NOBODY;
      if (!isAllowed(end)) return notAllowed(call.name, end);
      const outcome = await source.call(offered, call.arguments, signal);
      const notes = [describeEnd(end), outcome.note].filter((note) => note !== undefined);
      return { ...outcome, note: notes.join("; ") };
    },
  };
}
