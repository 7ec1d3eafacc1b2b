// The settings of MCP servers, whose tools agents may use, `mcp.servers.<name>`.
import { secretsInAddress } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { HeadersSchema } from "./headers.ts";

const HOUR_MS = 60 * 60 * 1000;

const milliseconds = (otherwise: number) =>
  z.number().int().min(100).max(HOUR_MS).default(otherwise);

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;
const NO_NAME = "must be 1 to 32 of A-Z a-z 0-9 _ and -, and begin with a letter or a digit";
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NO_SECRETS =
  "The address holds a key or a password, which would be shown wherever the address is; put it into headers.";

export const McpServerConfigSchema = z
  .object({
    command: z.string().min(1).optional().describe("The program of a server on this machine."),
    args: z
      .array(z.string())
      .default([])
      // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how a setting names a variable.
      .describe('What the program is called with; "${NAME}" stands for a variable.'),
    env: z
      .array(z.string().regex(VARIABLE, "must be the name of a variable"))
      .default([])
      .describe(
        "Names of the variables that the program is given, besides HOME, LOGNAME, PATH, SHELL, TERM and USER.",
      ),
    cwd: z
      .string()
      .min(1)
      .optional()
      .describe("Folder in which the program runs; unset = Clew's own folder."),
    url: z
      .url({ protocol: /^https?$/ })
      .refine((address) => secretsInAddress(address).length === 0, NO_SECRETS)
      .optional()
      .describe("Address of a server that is reached over HTTP."),
    headers: HeadersSchema.default({})
      // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how a setting names a variable.
      .describe('Headers of each request to it, e.g. {"Authorization": "Bearer ${NAME}"}.'),
    protocol: z
      .enum(["auto", "legacy"])
      .optional()
      .describe(
        'Whether the server is first asked for the revision of 2026-07-28 ("auto") or only for older ones; unset = "auto" over HTTP, "legacy" for a program, which "auto" would start twice.',
      ),
    enabled: z.boolean().default(true).describe("False: it is not used."),
    agents: z
      .array(z.string().min(1))
      .optional()
      .describe("Ids of the agents that may use it; unset = all."),
    tools: z
      .array(z.string().min(1))
      .optional()
      .describe("Which of its tools are offered, by its own names; unset = all."),
    approval: z
      .enum(["hints", "ask", "allow"])
      .default("hints")
      .describe(
        "Whether a person is asked before a tool runs: unless the server says that it only reads, always, or never.",
      ),
    connectTimeoutMs: milliseconds(30_000).describe(
      "How long the server may take until its tools are known, in milliseconds.",
    ),
    callTimeoutMs: milliseconds(60_000).describe(
      "How long a call may take without a sign of progress, in milliseconds.",
    ),
    maxCallMs: milliseconds(600_000).describe(
      "How long a call may take altogether, in milliseconds.",
    ),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: "names either a command or a url",
  });

export const McpConfigSchema = z.object({
  servers: z
    .record(z.string().regex(NAME, NO_NAME), McpServerConfigSchema)
    .default({})
    .describe("MCP servers, by the name that their tools begin with."),
});
export type McpServerConfig = z.infer<typeof McpServerConfigSchema>;
export type McpConfig = z.infer<typeof McpConfigSchema>;
