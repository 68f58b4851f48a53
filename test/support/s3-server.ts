/** A running server with an S3 interface. */
export interface S3Server {
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** The most bytes that the bucket takes; undefined: no limit. */
  setQuota: (bytes: number | undefined, bucket: string) => Promise<void>;
  stop(): void;
}
