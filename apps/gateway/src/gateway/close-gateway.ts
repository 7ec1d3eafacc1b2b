// Decides in which order the parts of a gateway end.
import type { LogPort } from "@clew/engine-core";
import type { Costs } from "../costs/meter.ts";
import type { Scheduler } from "../cron/scheduler.ts";
import type { Door } from "../door/serve/door.ts";
import type { EventHub } from "../events/hub.ts";
import type { Host } from "../host/host.ts";
import type { Lab } from "../lab/lab.ts";
import type { Shadows } from "../lab/shadows.ts";
import type { McpSources } from "../mcp/client/mcp-sources.ts";
import type { PluginHost } from "../plugins/host.ts";
import type { Conversations } from "../sessions/conversations.ts";
import type { StorageCluster } from "../storage/storage.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { Cancellation } from "./cancellation.ts";
import type { ChildSessions } from "./child-sessions.ts";
import { type ClosingPart, closeInOrder } from "./close-in-order.ts";
import type { Sending } from "./sending.ts";
import type { TurnReports } from "./turn-reports.ts";

export interface ClosablePorts {
  sending: Pick<Sending, "close">;
  lab: Pick<Lab, "close">;
  shadows: Pick<Shadows, "close">;
  scheduler: Pick<Scheduler, "stop">;
  door: Pick<Door, "close">;
  host: Pick<Host, "flushes" | "close">;
  cancellation: Pick<Cancellation, "cancelAllAfter">;
  conversations: Pick<Conversations, "close">;
  children: Pick<ChildSessions, "settled" | "stopSweeping">;
  cluster: Pick<StorageCluster, "close"> | undefined;
  mcp: Pick<McpSources, "close">;
  plugins: Pick<PluginHost, "close" | "unfinished"> | undefined;
  reports: Pick<TurnReports, "end">;
  costs: Pick<Costs, "close">;
  tracer: Pick<Tracer, "close">;
  events: Pick<EventHub, "publish">;
  log: Pick<LogPort, "warn">;
}

/** Time that ending may take beyond what runs are given, ms. */
const CLOSE_BOUND_MS = 6500;

/** Nothing new may begin any more when this is called. Resolves within `graceMs` + `boundMs`. */
export async function closeGateway(
  ports: ClosablePorts,
  { graceMs = 0, boundMs = CLOSE_BOUND_MS }: { graceMs?: number; boundMs?: number },
): Promise<void> {
  const { sending, events, lab, shadows, log } = ports;
  sending.close();
  events.publish({ type: "stopping" });
  lab.close();
  shadows.close();
  await closeInOrder(closingParts(ports, graceMs), { boundMs, log });
}

function closingParts(ports: ClosablePorts, graceMs: number): ClosingPart[] {
  const { cancellation, children, cluster, conversations, costs, door } = ports;
  const { host, mcp, plugins, reports, scheduler, tracer } = ports;
  const endRuns = () =>
    cancellation
      .cancelAllAfter(graceMs, conversations.close())
      .finally(() => children.settled())
      .finally(() => children.stopSweeping());
  return [
    { name: "jobs", close: () => scheduler.stop(graceMs), extraMs: graceMs },
    { name: "door", close: () => door.close(graceMs), extraMs: graceMs },
    { name: "memory", close: () => host.flushes.stop(graceMs), extraMs: graceMs },
    { name: "sessions", close: endRuns, extraMs: graceMs },
    { name: "storage", close: async () => cluster?.close() },
    { name: "MCP servers", close: () => mcp.close(), extraMs: 1000 },
    {
      name: "plugins",
      close: async () => plugins?.close(),
      unfinished: () => plugins?.unfinished() ?? [],
    },
    { name: "reports", close: () => reports.end() },
    { name: "costs", close: () => costs.close() },
    { name: "engines", close: () => host.close() },
    { name: "traces", close: () => tracer.close() },
  ];
}
