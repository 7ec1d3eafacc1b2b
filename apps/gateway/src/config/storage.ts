// Where sessions are kept, `storage`.
import { z } from "zod";

/** The variable that holds the address where the settings do not. */
export const STORAGE_URL_VARIABLE = "CLEW_STORAGE_URL";

const BlobsConfigSchema = z.object({
  folder: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A folder that all gateways of the database share, which has to be there; a relative one is below the home.",
    ),
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "Address of S3-compatible storage; unset = that of Amazon S3 in `storage.blobs.region`.",
    ),
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket")
    .optional()
    .describe("The bucket there, which has to be there."),
  region: z
    .string()
    .regex(/^[a-z0-9-]+$/, "must be the name of a region, such as eu-central-1")
    .optional()
    .describe(
      "Region of the bucket; unset = what AWS_REGION or the AWS profile says, else us-east-1.",
    ),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_/-]*$/, "must be letters, digits, dashes, underscores and slashes")
    .default("")
    .describe("What all keys in the bucket, or paths in the folder, begin with."),
  accessKeyId: z
    .string()
    .min(1)
    .optional()
    .describe(
      `Names the keys for the bucket, with \${NAME} for variables; unset = the AWS credentials of this machine (AWS_ACCESS_KEY_ID, a profile, a role).`,
    ),
  secretAccessKey: z
    .string()
    .min(1)
    .optional()
    .describe(`The secret that belongs to it, with \${NAME} for variables.`),
});

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
  blobs: BlobsConfigSchema.prefault({}).describe(
    "Where bodies of more than 64 KiB are kept instead of in the database; unset = in the database.",
  ),
});
export type StorageConfig = z.infer<typeof StorageConfigSchema>;
