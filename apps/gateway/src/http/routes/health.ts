// Says that the gateway runs, which home it serves, and what answers in it.
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { type GatewayIdentity, proofOfGateway } from "../../home/identity.ts";
import { inSafeMode } from "../../plugins/load/record.ts";

export interface HealthOptions {
  gateway: Gateway;
  version: string;
  identity: GatewayIdentity;
  port: () => number;
}

export function addHealthRoute(app: Hono, { gateway, version, identity, port }: HealthOptions) {
  const { startedAt, homeHash, secret } = identity;
  const listening = performance.now();
  app.get("/api/health", (context) => {
    const nonce = context.req.query("nonce");
    return context.json({
      status: gateway.isStopping() ? "stopping" : "ok",
      ...{ version, pid: process.pid, startedAt },
      uptimeMs: Math.round(performance.now() - listening),
      home: homeHash,
      proof: proofOfGateway(secret, { port: port(), nonce }),
      model: gateway.host.config.agents.defaults.model.primary,
      engine: engineHealth(gateway),
      safeMode: inSafeMode(gateway.plugins?.records() ?? []),
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
