INSERT INTO migrations SELECT {number:UInt32}, {name:String}, {checksum:String}, now64(9, 'UTC')
