// The settings of the HTTP server, `gateway`.
import { z } from "zod";
import { CostCapsSchema } from "./cost-caps.ts";
import { GatewayAuthSchema } from "./gateway-auth.ts";
import { LimitsConfigSchema } from "./limits.ts";

const ServerSchema = z.object({
  port: z.number().int().min(0).max(65_535).default(18_790).describe("TCP port; 0 = any free one."),
  bind: z
    .enum(["loopback", "lan"], {
      error: 'must be "loopback" (this machine only) or "lan" (all networks; needs a token)',
    })
    .default("loopback")
    .describe("Which networks may reach the gateway: this machine only, or all it is in."),
  hosts: z
    .array(z.string().regex(/^[A-Za-z0-9.-]+(:\d{1,5})?$/, "must be names of machines"))
    .default([])
    .describe("Further names by which it is reached, e.g. those of a proxy before it."),
  auth: GatewayAuthSchema.optional(),
  watchdogSeconds: z
    .number()
    .min(0)
    .max(86_400)
    .default(30)
    .describe("Longest time a plugin may keep the gateway from answering; 0 = any."),
  costCaps: CostCapsSchema.prefault({}).describe("How much may be spent on model calls."),
  limits: LimitsConfigSchema.prefault({}).describe(
    "How large what comes from outside may be, and how much.",
  ),
  mode: z
    .literal("local", { error: 'must be "local"' })
    .optional()
    .describe("OpenClaw's gateway mode; Clew knows no other."),
});

export const GatewayConfigSchema = ServerSchema.superRefine(({ bind, auth }, context) => {
  const isGuarded = auth?.token !== undefined || (auth?.tokens?.length ?? 0) > 0;
  if (bind === "loopback" || isGuarded) return;
  const message = 'must be "loopback" as long as gateway.auth has no token: anybody could use it';
  context.addIssue({ code: "custom", path: ["bind"], message });
});
export type GatewayConfig = z.infer<typeof GatewayConfigSchema>;
