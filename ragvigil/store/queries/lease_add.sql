-- Takes or renews the lease, by the server's clock.
INSERT INTO leases (number, holder, epoch, address, written, until)
SELECT
    {number:UInt64}, {holder:String}, {epoch:UInt64}, {address:String},
    now64(3), now64(3) + toIntervalMillisecond({milliseconds:UInt32})
