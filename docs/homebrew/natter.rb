# A formula for a tap. The release workflow prints the checksums to put in; the version is that of the tag.
class Natter < Formula
  desc "Team-chat server that is small enough to start inside a test, and its command line"
  homepage "https://github.com/OWNER/natter"
  version "VERSION"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/OWNER/natter/releases/download/v#{version}/natter-macos-arm64"
      sha256 "SHA256_MACOS_ARM64"
    end
  end
  on_linux do
    on_intel do
      url "https://github.com/OWNER/natter/releases/download/v#{version}/natter-linux-x64"
      sha256 "SHA256_LINUX_X64"
    end
    on_arm do
      url "https://github.com/OWNER/natter/releases/download/v#{version}/natter-linux-arm64"
      sha256 "SHA256_LINUX_ARM64"
    end
  end

  def install
    bin.install Dir["natter-*"].first => "natter"
    bin.install_symlink "natter" => "natterd"
  end

  service do
    run [opt_bin/"natterd", "--data", var/"natter", "--no-profile"]
    keep_alive true
    log_path var/"log/natter.log"
    error_log_path var/"log/natter.log"
  end

  test do
    assert_match "natter #{version}", shell_output("#{bin}/natter --version")
    system bin/"natter", "exec", "--", bin/"natter", "users", "me"
  end
end
