// The settings of the HTTP server, `gateway`.
import { z } from "zod";
import { CostCapsSchema } from "./cost-caps.ts";
import { LimitsConfigSchema } from "./limits.ts";

export const GatewayConfigSchema = z.object({
  port: z.number().int().min(0).max(65_535).default(18_790).describe("TCP port; 0 = any free one."),
  bind: z
    .literal("loopback", { error: 'must be "loopback": Clew serves this machine only' })
    .default("loopback")
    .describe("Which network may reach the gateway: this machine only."),
  auth: z
    .looseObject({
      token: z
        .string()
        .min(16, "must have at least 16 characters")
        .optional()
        .describe("Clients that show it may let tools run."),
    })
    .optional(),
  watchdogSeconds: z
    .number()
    .min(0)
    .max(86_400)
    .default(30)
    .describe("Longest time a plugin may keep the gateway from answering; 0 = any."),
  costCaps: CostCapsSchema.prefault({}).describe("How much may be spent on model calls."),
  limits: LimitsConfigSchema.prefault({}).describe("How large what comes from outside may be."),
  mode: z
    .literal("local", { error: 'must be "local"' })
    .optional()
    .describe("OpenClaw's gateway mode; Clew knows no other."),
});
export type GatewayConfig = z.infer<typeof GatewayConfigSchema>;
