import * as z from "zod";
import { json, jsonObject, optionalText, text } from "./declare.ts";

const yes = z.literal(true).optional();

/** `type` is always set, and functions appear as flags. */
export const prop = z.object({
  name: text,
  type: text,
  label: optionalText,
  description: optionalText,
  optional: yes,
  hidden: yes,
  disabled: yes,
  reloadProps: yes,
  readOnly: yes,
  secret: yes,
  default: json.optional(),
  static: jsonObject.optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  options: z.array(z.object({ label: text, value: json })).optional(),
  remoteOptions: yes.describe("its options are computed"),
  useQuery: yes,
  withLabel: yes,
  app: optionalText,
  auth: z.object({ app: text }).optional(),
  customResponse: yes,
  eventNames: z.array(text).optional(),
  alertType: optionalText,
  content: optionalText,
  accessMode: optionalText,
  sync: z.boolean().optional(),
});
export type PropRecord = z.infer<typeof prop>;

export const optionsParams = z.object({
  prop_name: z.string().min(1),
  page: z.coerce.number<string | number>().int().min(0).default(0),
  prev_context: jsonObject.default({}),
  query: optionalText,
  configured_props: jsonObject.default({}),
});

/** Problems that did not prevent an answer. `errors` is always empty. */
const asides = { observations: z.array(json), errors: z.array(json) };

export const choices = z.object({
  options: z.array(z.object({ label: text, value: json })),
  string_options: z.array(text),
  context: jsonObject.nullable().describe("send it as prev_context to get the next page"),
  reads: z.array(text).describe("other props that the options depend on, as far as known"),
  ...asides,
});
export type ChoicesRecord = z.infer<typeof choices>;

export const dynamicProps = z.object({ ...asides, dynamicProps: z.object({ id: text, configurableProps: z.array(prop) }) });

export interface BadProps {
  readonly problems: readonly PropProblemRecord[];
  /** Includes dynamic props for the given values. */
  readonly props: readonly PropRecord[];
}

export interface PropProblemRecord {
  readonly prop: string;
  readonly problem?: string;
  readonly isMissing?: boolean;
}
