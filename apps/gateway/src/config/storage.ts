// Where sessions are kept, `storage`.
import { z } from "zod";

/** The variable that holds the address where the settings do not. */
export const STORAGE_URL_VARIABLE = "CLEW_STORAGE_URL";

export const StorageConfigSchema = z.object({
  driver: z
    .enum(["files", "postgres"])
    .default("files")
    .describe(
      '"files" = in files of the home; "postgres" = in one PostgreSQL (15 or newer), which several gateways may share.',
    ),
  url: z
    .string()
    .min(1)
    .optional()
    .describe(
      `Address of the database, postgres://user:password@host/database, with \${NAME} for variables; unset = what ${STORAGE_URL_VARIABLE} says.`,
    ),
  address: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "Where other gateways and their clients reach this one, such as http://10.0.0.1:18790; unset = where it listens on this machine.",
    ),
  deadAfterSeconds: z
    .number()
    .min(1)
    .max(300)
    .default(10)
    .describe(
      "A gateway of which the database heard nothing for so long counts as dead, and others take its sessions.",
    ),
  connections: z
    .number()
    .int()
    .min(2, { error: "must be 2 at least: one session's steps would keep all others waiting" })
    .max(200)
    .default(10)
    .describe("Connections to the database for turns; one more says that the gateway lives."),
});
export type StorageConfig = z.infer<typeof StorageConfigSchema>;
