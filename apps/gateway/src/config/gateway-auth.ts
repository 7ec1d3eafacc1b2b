// Who the HTTP server listens to, `gateway.auth`.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { z } from "zod";
import { type Environment, expandVariables } from "./environment.ts";

/** What a caller may do; each may do what those before it may. */
export const SCOPES = ["read", "chat", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

const LEAST_CHARS = 16;
const TOO_SHORT = `must have at least ${LEAST_CHARS} characters`;
const REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/;

const TokenText = z
  .string()
  .refine((text) => text.length >= LEAST_CHARS || REFERENCE.test(text), TOO_SHORT)
  .refine((text) => /^[\x21-\x7e]+$/.test(text), "must be printable ASCII without blanks");

const TokenSchema = z.object({
  name: z
    .string()
    .regex(/^[\w.-]{1,40}$/, "must be letters, digits, dots, dashes and underscores, at most 40")
    .describe("What the log calls who shows it."),
  token: TokenText.describe("The token, or a variable that holds it."),
  scope: z
    .enum(SCOPES)
    .default("read")
    .describe("read: look at everything; chat: also send messages; admin: as the person."),
});

export const GatewayAuthSchema = z
  .looseObject({
    token: TokenText.optional().describe(
      "Whoever shows it is heard as the person of this home, and nobody without one.",
    ),
    tokens: z.array(TokenSchema).max(100).optional().describe("Further tokens, each for one use."),
  })
  .superRefine(({ token, tokens = [] }, context) => {
    const texts = [...(token === undefined ? [] : [token]), ...tokens.map((each) => each.token)];
    const names = tokens.map(({ name }) => name);
    if (new Set(texts).size < texts.length)
      context.addIssue({
        code: "custom",
        path: ["tokens"],
        message: "must differ from each other",
      });
    if (new Set(names).size < names.length || names.includes(OWN_NAME))
      context.addIssue({
        code: "custom",
        path: ["tokens"],
        message: "must have names of their own",
      });
  });
export type GatewayAuthConfig = z.infer<typeof GatewayAuthSchema>;

/** What the log calls who shows `gateway.auth.token`. */
const OWN_NAME = "token";

export interface NamedToken {
  name: string;
  text: string;
  scope: Scope;
  /** True: it is `gateway.auth.token`. */
  isOwn: boolean;
}

/** Those that are configured, with variables replaced. Throws CONFIG_INVALID. */
export function tokensOf(
  auth: GatewayAuthConfig | undefined,
  environment: Pick<Environment, "variable">,
): NamedToken[] {
  const { token, tokens = [] } = auth ?? {};
  const own = token === undefined ? [] : [{ name: OWN_NAME, token, scope: "admin" as const }];
  return [...own, ...tokens].map(({ name, token: written, scope }) => {
    const expanded = expandVariables(written, environment);
    if ("missing" in expanded)
      throw invalid(
        name,
        `names ${expanded.missing.join(" and ")}, which is not set; set it where the gateway is started, for a service in service.env of the home`,
      );
    if (expanded.text.length < LEAST_CHARS) throw invalid(name, TOO_SHORT);
    return { name, text: expanded.text, scope, isOwn: name === OWN_NAME };
  });
}

/** The texts of those that are configured and set. */
export const tokensIn = (
  { token, tokens = [] }: GatewayAuthConfig = {},
  environment: Pick<Environment, "variable">,
): string[] =>
  [...(token === undefined ? [] : [token]), ...tokens.map((each) => each.token)].flatMap(
    (written) => {
      const expanded = expandVariables(written, environment);
      return "missing" in expanded ? [] : [expanded.text];
    },
  );

const invalid = (name: string, problem: string) =>
  new ContextEngineError(
    "CONFIG_INVALID",
    name === OWN_NAME
      ? `gateway.auth.token ${problem}.`
      : `The token "${name}" of gateway.auth.tokens ${problem}.`,
  );
