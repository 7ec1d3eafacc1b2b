// Where AWS and Google answer for a region or a project, and what their settings say of it.
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { ProviderConfig } from "../config/models.ts";
import type { AwsFacts } from "./aws/plan.ts";

export const bedrockAddress = (region: string): string =>
  `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;

/** The region an address of AWS is in; undefined for any other. */
export const regionIn = (baseUrl: string): string | undefined =>
  /^https:\/\/bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com/.exec(baseUrl)?.[1];

export const vertexAddress = (project: string, location: string): string => {
  const host =
    location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/v1/projects/${project}/locations/${location}`;
};

/** AWS's files are where its own programs look for them. */
export function awsFactsOf(
  configured: ProviderConfig | undefined,
  { variable, userHome, readText }: Pick<Environment, "variable" | "userHome" | "readText">,
): AwsFacts {
  const textOf = (name: string, file: string) =>
    readText(variable(name) ?? join(userHome, ".aws", file)) ?? "";
  return {
    profile: configured?.aws?.profile,
    variable,
    configText: textOf("AWS_CONFIG_FILE", "config"),
    credentialsText: textOf("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
  };
}
