// Decides which of Google's default credentials a provider uses.
import { join } from "node:path";
import { objectIn, textIn } from "../issuer.ts";
import { type Federation, planFederation } from "./federation.ts";

/** What there is to decide from. */
export interface GoogleFacts {
  /** As the configuration names it. */
  file: string | undefined;
  /** True: the server of the machine it runs on may be asked. */
  asksMachine: boolean;
  variable(name: string): string | undefined;
  /** The person's home folder. */
  userHome: string;
  /** Undefined for a file that cannot be read. */
  readText(file: string): string | undefined;
}

export type GooglePlan =
  | {
      kind: "service-account";
      file: string;
      email: string;
      privateKey: string;
      tokenUri: string;
      project?: string;
    }
  | {
      kind: "person";
      file: string;
      clientId: string;
      clientSecret: string;
      refreshToken: string;
      project?: string;
    }
  | { kind: "federated"; file: string; federation: Federation; project?: string }
  | { kind: "machine" }
  | { kind: "missing"; why: string };

const LOG_IN = "run: gcloud auth application-default login";
export const GOOGLE_TOKENS = "https://oauth2.googleapis.com/token";

export function planGoogle(facts: GoogleFacts): GooglePlan {
  const { file, variable, readText, asksMachine } = facts;
  const named = file ?? variable("GOOGLE_APPLICATION_CREDENTIALS");
  const usual = usualFile(facts);
  const text = readText(named ?? usual);
  if (text !== undefined) return planFile(named ?? usual, objectIn(text));
  if (named !== undefined)
    return {
      kind: "missing",
      why: `the file ${named}, which holds its Google credentials, cannot be read; correct its name`,
    };
  return asksMachine
    ? { kind: "machine" }
    : {
        kind: "missing",
        why: `there are no Google credentials; ${LOG_IN}, or set GOOGLE_APPLICATION_CREDENTIALS`,
      };
}

/** Where Google's own program keeps them. */
function usualFile({ variable, userHome }: GoogleFacts): string {
  const appData = process.platform === "win32" ? variable("APPDATA") : undefined;
  const folder =
    variable("CLOUDSDK_CONFIG") ??
    (appData === undefined ? join(userHome, ".config", "gcloud") : join(appData, "gcloud"));
  return join(folder, "application_default_credentials.json");
}

function planFile(file: string, told: Readonly<Record<string, unknown>>): GooglePlan {
  const project = textIn(told.project_id) ?? textIn(told.quota_project_id);
  const common = { file, ...(project !== undefined && { project }) };
  if (told.type === "service_account") {
    const [email, privateKey] = [told.client_email, told.private_key].map(textIn);
    const tokenUri = textIn(told.token_uri) ?? GOOGLE_TOKENS;
    if (email !== undefined && privateKey !== undefined)
      return { kind: "service-account", ...common, email, privateKey, tokenUri };
  }
  if (told.type === "authorized_user") {
    const fields = [told.client_id, told.client_secret, told.refresh_token].map(textIn);
    const [clientId, clientSecret, refreshToken] = fields;
    if (clientId !== undefined && clientSecret !== undefined && refreshToken !== undefined)
      return { kind: "person", ...common, clientId, clientSecret, refreshToken };
  }
  const type = textIn(told.type);
  if (type === "external_account") {
    const federation = planFederation(told);
    if (federation !== undefined) return { kind: "federated", ...common, federation };
  }
  return {
    kind: "missing",
    why:
      type === undefined || type === "service_account" || type === "authorized_user"
        ? `${file} holds no complete Google credentials; ${LOG_IN}`
        : `${file} holds Google credentials of type "${type}", which Clew leaves to Google's own program; set apiKeyCommand to ["gcloud", "auth", "application-default", "print-access-token"]`,
  };
}
