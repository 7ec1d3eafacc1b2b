// How large what comes from outside may be, and how much of it, `gateway.limits`.
import { z } from "zod";

const KIB = 1024;
const MIB = 1024 * KIB;

const bytes = (smallest: number) =>
  z.number().int().min(smallest, `must be at least ${smallest} bytes`);

export const LimitsConfigSchema = z.object({
  bodyBytes: bytes(64 * KIB)
    .default(32 * MIB)
    .describe("Most bytes of an HTTP request, pictures included."),
  requestsPerMinute: z
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe("Most requests of one token, or of one address without, in a minute; 0 = any."),
  messageBytes: bytes(KIB).default(MIB).describe("Most bytes of text in one message."),
  replyBytes: bytes(KIB)
    .default(4 * MIB)
    .describe("Most bytes of one reply of a model; what is beyond ends the call."),
  answerBytes: bytes(64 * KIB)
    .default(64 * MIB)
    .describe("Most bytes that a model server may send for one reply, unpacked."),
  toolCallBytes: bytes(KIB)
    .default(MIB)
    .describe("Most bytes of a tool call's arguments; a call with more is not run."),
  hookBytes: bytes(KIB)
    .default(256 * KIB)
    .describe("Most bytes of text that one plugin's hook may add to a turn."),
  toolResultBytes: bytes(KIB)
    .default(MIB)
    .describe("Most bytes of text in one tool result; the middle of a larger one is left out."),
  runningTurns: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(100)
    .describe("Most turns that run at once; further ones wait, each session in its turn."),
  waitingTurns: z
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(1000)
    .describe("Most messages that wait in all sessions; one more is refused (429)."),
  waitingMessages: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(100)
    .describe("Most messages that wait in one session; one more is refused (429)."),
  waitingBytes: bytes(KIB)
    .default(16 * MIB)
    .describe("Most bytes of the messages that wait in one session, pictures included."),
  openSessionBytes: bytes(MIB)
    .default(128 * MIB)
    .describe("Most bytes that transcripts take in memory; sessions used longest ago are closed."),
  reportBytes: bytes(64 * KIB)
    .default(16 * MIB)
    .describe(
      "Most bytes of one session's turn reports; the oldest half goes when there are more.",
    ),
});
export type LimitsConfig = z.infer<typeof LimitsConfigSchema>;
