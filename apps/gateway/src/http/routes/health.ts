// Says that the gateway runs, which home it serves, and what answers in it.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { type GatewayIdentity, proofOfGateway } from "../../home/identity.ts";
import { inSafeMode } from "../../plugins/load/record.ts";
import { type Callers, scopeOf } from "../access/caller.ts";
import { whyNotReady } from "./why-not-ready.ts";

export interface HealthOptions {
  gateway: Gateway;
  version: string;
  identity: GatewayIdentity;
  port: () => number;
  callers: Callers;
}

/** They have one reason, mostly; the metrics count all. */
const MOST_UNSTORED = 20;

export function addHealthRoute(app: Hono, options: HealthOptions) {
  const { gateway, version, identity, port, callers } = options;
  const { startedAt, homeHash, secret } = identity;
  const listening = performance.now();
  app.get("/api/health", async (context) => {
    const nonce = context.req.query("nonce");
    const known = {
      status: gateway.isStopping() ? "stopping" : "ok",
      ...{ version, home: homeHash },
      proof: proofOfGateway(secret, { port: port(), nonce }),
    };
    if (callers.needsToken && scopeOf(callers.of(context)) === null) return context.json(known);
    return context.json({
      ...known,
      ...{ pid: process.pid, startedAt },
      uptimeMs: Math.round(performance.now() - listening),
      model: gateway.host.config.agents.defaults.model.primary,
      engine: engineHealth(gateway),
      safeMode: inSafeMode(gateway.plugins?.records() ?? []),
      turns: gateway.busy(),
      notReady: await whyNotReady(gateway),
      unstored: gateway.door.unstored().slice(0, MOST_UNSTORED),
    });
  });
}

function engineHealth({ host, plugins }: Gateway) {
  const { slots } = plugins?.settings() ?? host.config.plugins;
  return {
    configured: slots?.contextEngine ?? null,
    known: host.engineIds(),
    quarantined: host.quarantined(),
  };
}
