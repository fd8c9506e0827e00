/** What the API says of the second step of the sign-in. */

/** What one is asked for beside the password. */
export interface SecondFactor {
  is_on: boolean;
  since: number | null;
  /** How many are left. */
  recovery_codes: number;
  has_password: boolean;
}

/** What one puts into an app; shown once. */
export interface NewSecondFactor {
  /** In base32. */
  secret: string;
  /** The same as an address that apps read. */
  address: string;
  /** The address as a QR code: its dark squares as a path of SVG, `size` squares wide and high. */
  qr: { size: number; path: string } | null;
}
